/* memory.h on the GPU. Allocations come from the stream-ordered pool, which keeps freed memory. So a few
 * hundred configurations do not pay for as many cudaMalloc. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "fingerprint.h"
#include "memory.h"

enum { THREADS = 256, BLOCKS = 1024 };

/* Small tensors are most: they need no grid for large ones. */
static unsigned blocks_for(size_t bytes)
{
    const size_t blocks = bytes / (4 * THREADS) + 1;
    return (unsigned)(blocks < BLOCKS ? blocks : (size_t)BLOCKS);
}

/* --- freed memory is overwritten, so that it reveals no inputs and expected values --- */

static pthread_mutex_t taken_lock = PTHREAD_MUTEX_INITIALIZER;
static struct taken {
    void *memory;
    size_t bytes;
    /* [taken_room], of which taken_count are in use: the allocations of a thread or two, at most tens */
} * taken;
static size_t taken_count, taken_room;

static bool taken_add(void *memory, size_t bytes)
{
    bool ok = true;
    pthread_mutex_lock(&taken_lock);
    if (taken_count == taken_room) {
        const size_t room = 2 * taken_room + 64;
        struct taken *grown = (struct taken *)realloc(taken, room * sizeof *taken);
        ok = grown != NULL;
        if (ok) {
            taken = grown;
            taken_room = room;
        }
    }
    if (ok)
        taken[taken_count++] = {memory, bytes};
    pthread_mutex_unlock(&taken_lock);
    return ok;
}

static size_t taken_remove(const void *memory)
{
    size_t bytes = 0;
    pthread_mutex_lock(&taken_lock);
    /* the newest first: enclosures of a cache stay, tensors come and go */
    for (size_t i = taken_count; i > 0 && bytes == 0; i--)
        if (taken[i - 1].memory == memory) {
            bytes = taken[i - 1].bytes;
            taken[i - 1] = taken[--taken_count];
        }
    pthread_mutex_unlock(&taken_lock);
    return bytes;
}

static int cuda_take(void **out, size_t bytes)
{
    cudaError_t error = cudaMallocAsync(out, bytes ? bytes : 1, 0);
    if (!error && !taken_add(*out, bytes)) {
        cudaFreeAsync(*out, 0);
        *out = NULL;
        error = cudaErrorMemoryAllocation;
    }
    return error;
}

static void cuda_release(void *memory)
{
    if (!memory)
        return;
    cudaMemsetAsync(memory, 0, taken_remove(memory), 0);
    cudaFreeAsync(memory, 0);
}

static int cuda_copy(void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0);
}

static int cuda_finish(void)
{
    return cudaStreamSynchronize(0);
}

static int cuda_to_host(void *to, const void *from, int64_t offset, int64_t bytes)
{
    return cudaMemcpy(to, (const char *)from + offset, (size_t)bytes, cudaMemcpyDeviceToHost);
}

/* --- batched copies of many pieces --- */

/* Pinned host memory, [DEVICE_PAGES_BATCH, DEVICE_PAGES_PAGE], into which a kernel writes over the bus, and
 * the list of pieces to copy. Addresses are unified, so one pointer serves both sides. The process keeps
 * several, so that some are filled while others are read. */
struct staging {
    pthread_mutex_t lock;
    cudaStream_t stream;
    struct reference_piece *piece; /* NULL: not yet allocated */
    unsigned char *bytes;
};

#define STAGING                                                                                              \
    {                                                                                                        \
        PTHREAD_MUTEX_INITIALIZER, NULL, NULL, NULL                                                          \
    }
static struct staging stagings[] = {STAGING, STAGING, STAGING, STAGING, STAGING, STAGING, STAGING, STAGING};
enum { STAGINGS = sizeof stagings / sizeof *stagings };
static unsigned staging_turn;

static cudaError_t staging_make(struct staging *s)
{
    const size_t list = DEVICE_PAGES_BATCH * sizeof *s->piece,
                 pages = (size_t)DEVICE_PAGES_BATCH * DEVICE_PAGES_PAGE;
    void *memory;
    cudaError_t error = cudaSuccess;
    if (!s->stream) /* an earlier attempt may have failed after creating it */
        error = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaHostAlloc(&memory, pages + list, cudaHostAllocMapped);
    if (error)
        return error;
    s->bytes = (unsigned char *)memory;
    s->piece = (struct reference_piece *)(s->bytes + pages);
    return cudaSuccess;
}

/* One block per piece; 16 bytes per thread if the piece is aligned, as pages of tensors are. */
static __global__ void gather_kernel(const struct reference_piece *list, unsigned char *pages)
{
    __shared__ struct reference_piece piece;
    if (threadIdx.x == 0)
        piece = list[blockIdx.x];
    __syncthreads();
    const unsigned char *from = (const unsigned char *)piece.from;
    unsigned char *to = pages + (size_t)blockIdx.x * DEVICE_PAGES_PAGE;
    const int64_t whole = (uintptr_t)from % 16 ? 0 : piece.bytes / 16;
    for (int64_t i = threadIdx.x; i < whole; i += blockDim.x)
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    for (int64_t i = 16 * whole + threadIdx.x; i < piece.bytes; i += blockDim.x)
        to[i] = from[i];
}

static cudaError_t staging_gather(struct staging *s, const struct reference_piece *piece, int64_t count)
{
    cudaError_t error = s->piece ? cudaSuccess : staging_make(s);
    if (error)
        return error;
    memcpy(s->piece, piece, (size_t)count * sizeof *piece);
    gather_kernel<<<(unsigned)count, THREADS, 0, s->stream>>>(s->piece, s->bytes);
    error = cudaGetLastError();
    if (!error)
        error = cudaStreamSynchronize(s->stream);
    for (int64_t i = 0; i < count && !error; i++)
        memcpy(piece[i].to, s->bytes + i * DEVICE_PAGES_PAGE, (size_t)piece[i].bytes);
    return error;
}

/* Threads start on device 0; selects the device of the memory. */
static cudaError_t use_device_of(const void *memory)
{
    struct cudaPointerAttributes attributes;
    cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
    if (!error && attributes.type != cudaMemoryTypeDevice)
        error = cudaErrorInvalidValue;
    return error ? error : cudaSetDevice(attributes.device);
}

static int cuda_gather(const struct reference_piece *piece, int64_t count)
{
    cudaError_t error = count ? use_device_of(piece->from) : cudaSuccess;
    if (count && !error) /* the staging streams do not wait for the stream of copy, fill and poison */
        error = cudaStreamSynchronize(0);
    for (int64_t at = 0; at < count && !error; at += DEVICE_PAGES_BATCH) {
        const int64_t left = count - at, batch = DEVICE_PAGES_BATCH;
        struct staging *s = &stagings[__atomic_fetch_add(&staging_turn, 1u, __ATOMIC_RELAXED) % STAGINGS];
        pthread_mutex_lock(&s->lock);
        error = staging_gather(s, piece + at, left < batch ? left : batch);
        pthread_mutex_unlock(&s->lock);
    }
    if (error)
        cudaGetLastError(); /* the error is reported here; it must not show up at the next kernel launch */
    return error;
}

static int cuda_from_host(void *to, const void *from, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}

static int cuda_fill(const struct problem *problem, const struct instance *instance, int tensor,
                     uint64_t seed, int content, void *out)
{
    return fill_cuda(problem, instance, tensor, seed, content, out);
}

static __device__ unsigned char poison_byte(const unsigned char *address, uint32_t word)
{
    return (unsigned char)(word >> 8 * ((uintptr_t)address & 3));
}

/* Writes the aligned words in the middle four bytes at a time, and the ends (less than four bytes each)
 * bytewise. */
static __global__ void poison_kernel(unsigned char *p, size_t bytes, uint32_t word)
{
    const size_t head = (4 - ((uintptr_t)p & 3)) & 3, step = (size_t)gridDim.x * blockDim.x;
    const size_t start = head < bytes ? head : bytes, words = (bytes - start) / 4;
    const size_t me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = me; i < words; i += step)
        ((uint32_t *)(p + start))[i] = word;
    if (me < start)
        p[me] = poison_byte(p + me, word);
    const size_t tail = start + 4 * words;
    if (me < bytes - tail)
        p[tail + me] = poison_byte(p + tail + me, word);
}

static int cuda_poison(void *memory, size_t bytes, uint32_t word)
{
    if (bytes == 0)
        return 0;
    poison_kernel<<<blocks_for(bytes), THREADS>>>((unsigned char *)memory, bytes, word);
    return cudaGetLastError();
}

/* Checks bytes from `row` on in every `pitch` bytes. */
static __global__ void unpoisoned_kernel(const unsigned char *p, size_t bytes, size_t row, size_t pitch,
                                         uint32_t word, unsigned long long *first)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        if (p[i] != poison_byte(p + i, word) && (row == 0 || i % pitch >= row))
            atomicMin(first, (unsigned long long)i);
}

/* Compares pieces of 16 bytes, at once if both sides are aligned; looks at single bytes only where a piece
 * differs. */
static __global__ void difference_kernel(const unsigned char *a, const unsigned char *b, size_t bytes,
                                         unsigned long long *first)
{
    const size_t step = (size_t)gridDim.x * blockDim.x, pieces = bytes / 16;
    const bool aligned = (((uintptr_t)a | (uintptr_t)b) & 15) == 0;
    const size_t me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = me; i <= pieces; i += step) {
        const size_t end = i < pieces ? 16 : bytes % 16;
        if (i < pieces && aligned) {
            const uint4 x = ((const uint4 *)a)[i], y = ((const uint4 *)b)[i];
            if (x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w)
                continue;
        }
        for (size_t j = 0; j < end; j++)
            if (a[16 * i + j] != b[16 * i + j]) {
                atomicMin(first, (unsigned long long)(16 * i + j));
                break;
            }
    }
}

static void launch_search(const struct memory_search *s, unsigned long long *first)
{
    const unsigned char *const memory = (const unsigned char *)s->memory;
    if (s->bytes > 0 && s->other)
        difference_kernel<<<blocks_for(s->bytes), THREADS>>>(memory, (const unsigned char *)s->other,
                                                             s->bytes, first);
    else if (s->bytes > 0)
        unpoisoned_kernel<<<blocks_for(s->bytes), THREADS>>>(memory, s->bytes, s->pitch ? s->row : 0,
                                                             s->pitch ? s->pitch : s->bytes, s->word, first);
}

static int cuda_search(struct memory_search *list, int count)
{
    unsigned long long *first;
    int64_t found[MEMORY_SEARCHES];
    if (count > MEMORY_SEARCHES)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaMallocAsync((void **)&first, sizeof found, 0);
    if (error)
        return error;
    error = cudaMemsetAsync(first, 0xff, sizeof found, 0); /* -1: none */
    for (int i = 0; i < count; i++)
        launch_search(&list[i], first + i);
    if (!error)
        error = cudaGetLastError();
    if (!error)
        error = cudaMemcpy(found, first, (size_t)count * sizeof *found, cudaMemcpyDeviceToHost);
    cudaFreeAsync(first, 0);
    for (int i = 0; i < count; i++)
        list[i].first = error ? -1 : found[i];
    return error;
}

/* Loads eight bytes, of which `count` exist; with a single load if aligned, as tensors mostly are. */
static __device__ unsigned long long word_at(const unsigned char *p, size_t count)
{
    unsigned long long word = 0;
    if (count == 8 && ((uintptr_t)p & 7) == 0)
        return *(const unsigned long long *)p;
    for (size_t i = 0; i < count; i++)
        word |= (unsigned long long)p[i] << 8 * i;
    return word;
}

static __global__ void fingerprint_kernel(const unsigned char *p, size_t bytes, uint64_t key,
                                          unsigned long long *sum)
{
    const size_t step = (size_t)gridDim.x * blockDim.x, words = (bytes + 7) / 8;
    unsigned long long mine = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step)
        mine += fingerprint_mix(word_at(p + 8 * i, i < bytes / 8 ? 8 : bytes % 8), i, key);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, lanes);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}

static int cuda_fingerprint(const void *memory, size_t bytes, uint64_t key, uint64_t *result)
{
    unsigned long long *sum;
    *result = 0;
    if (bytes == 0)
        return 0;
    cudaError_t error = cudaMallocAsync((void **)&sum, sizeof *sum, 0);
    if (error)
        return error;
    error = cudaMemsetAsync(sum, 0, sizeof *sum, 0);
    if (!error) {
        fingerprint_kernel<<<blocks_for(bytes), THREADS>>>((const unsigned char *)memory, bytes, key, sum);
        error = cudaGetLastError();
    }
    if (!error)
        error = cudaMemcpy(result, sum, sizeof *result, cudaMemcpyDeviceToHost);
    cudaFreeAsync(sum, 0);
    return error;
}

static size_t cuda_available(void)
{
    size_t available = 0, total = 0;
    if (cudaMemGetInfo(&available, &total))
        return 0;
    return available;
}

static int cuda_image_take(void **out, size_t bytes)
{
    return cudaHostAlloc(out, bytes, cudaHostAllocDefault);
}

static void cuda_image_release(void *image)
{
    cudaFreeHost(image);
}

static int cuda_send(void *to, const void *image, size_t bytes)
{
    return cudaMemcpyAsync(to, image, bytes, cudaMemcpyHostToDevice, 0);
}

static int cuda_fetch(void *image, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(image, from, bytes, cudaMemcpyDeviceToHost, 0);
}

static const char *cuda_explain(int error)
{
    return cudaGetErrorString((cudaError_t)error);
}

static bool cuda_is_shortage(int error)
{
    if (error != cudaErrorMemoryAllocation)
        return false;
    cudaGetLastError();
    return true;
}

extern "C" const struct memory memory_cuda = {
    cuda_take,       cuda_release,       cuda_copy,   cuda_to_host, cuda_gather,      cuda_from_host,
    cuda_fill,       cuda_poison,        cuda_search, cuda_finish,  cuda_fingerprint, cuda_available,
    cuda_image_take, cuda_image_release, cuda_send,   cuda_fetch,   cuda_explain,     cuda_is_shortage};
