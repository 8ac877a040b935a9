/* memory.h on the GPU. Allocations come from the stream-ordered pool, which keeps what it has, so that
 * a few hundred configurations do not pay for as many cudaMalloc. */
#include <cuda_runtime.h>

#include "../gen/fill.h"
#include "memory.h"

enum { THREADS = 256, BLOCKS = 1024 };

static int cuda_take(void **out, size_t bytes)
{
    cudaError_t error = cudaMallocAsync(out, bytes ? bytes : 1, 0);
    return error ? error : cudaStreamSynchronize(0);
}

static void cuda_release(void *memory)
{
    if (memory)
        cudaFreeAsync(memory, 0);
}

static int cuda_copy(void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0);
    return error ? error : cudaStreamSynchronize(0);
}

static int cuda_to_host(void *to, const void *from, int64_t offset, int64_t bytes)
{
    return cudaMemcpy(to, (const char *)from + offset, (size_t)bytes, cudaMemcpyDeviceToHost);
}

static int cuda_from_host(void *to, const void *from, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}

static int cuda_fill(const struct problem *problem, const struct instance *instance, int tensor,
                     uint64_t seed, int content, void *out)
{
    int error = fill_cuda(problem, instance, tensor, seed, content, out);
    return error ? error : cudaStreamSynchronize(0);
}

static __device__ unsigned char poison_byte(const unsigned char *address, uint32_t word)
{
    return (unsigned char)(word >> 8 * ((uintptr_t)address & 3));
}

/* The aligned words in the middle go four bytes at a time; the ends, less than four bytes each, byte
 * by byte. */
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
    poison_kernel<<<BLOCKS, THREADS>>>((unsigned char *)memory, bytes, word);
    cudaError_t error = cudaGetLastError();
    return error ? error : cudaStreamSynchronize(0);
}

static __global__ void unpoisoned_kernel(const unsigned char *p, size_t bytes, uint32_t word,
                                         unsigned long long *first)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        if (p[i] != poison_byte(p + i, word))
            atomicMin(first, (unsigned long long)i);
}

/* Tensors are 16-byte aligned on both sides: compare in 16-byte pieces, look closer where one differs. */
static __global__ void difference_kernel(const unsigned char *a, const unsigned char *b, size_t bytes,
                                         unsigned long long *first)
{
    const size_t step = (size_t)gridDim.x * blockDim.x, pieces = bytes / 16;
    const size_t me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = me; i <= pieces; i += step) {
        const size_t end = i < pieces ? 16 : bytes % 16;
        if (i < pieces) {
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

/* A one-word result on the device, preset to "none". */
static cudaError_t open_first(unsigned long long **first)
{
    cudaError_t error = cudaMallocAsync((void **)first, sizeof **first, 0);
    return error ? error : cudaMemsetAsync(*first, 0xff, sizeof **first, 0);
}

static cudaError_t close_first(unsigned long long *first, int64_t *result)
{
    cudaError_t error = cudaGetLastError();
    if (!error)
        error = cudaMemcpy(result, first, sizeof *result, cudaMemcpyDeviceToHost);
    cudaFreeAsync(first, 0);
    return error;
}

static int cuda_find_unpoisoned(const void *memory, size_t bytes, uint32_t word, int64_t *result)
{
    unsigned long long *first;
    *result = -1;
    if (bytes == 0)
        return 0;
    cudaError_t error = open_first(&first);
    if (error)
        return error;
    unpoisoned_kernel<<<BLOCKS, THREADS>>>((const unsigned char *)memory, bytes, word, first);
    return close_first(first, result);
}

static int cuda_find_difference(const void *a, const void *b, size_t bytes, int64_t *result)
{
    unsigned long long *first;
    *result = -1;
    cudaError_t error = open_first(&first);
    if (error)
        return error;
    difference_kernel<<<BLOCKS, THREADS>>>((const unsigned char *)a, (const unsigned char *)b, bytes,
                                           first);
    return close_first(first, result);
}

static size_t cuda_available(void)
{
    size_t available = 0, total = 0;
    if (cudaMemGetInfo(&available, &total))
        return 0;
    return available;
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
    cuda_take, cuda_release, cuda_copy, cuda_to_host, cuda_from_host, cuda_fill, cuda_poison,
    cuda_find_unpoisoned, cuda_find_difference, cuda_available, cuda_explain, cuda_is_shortage};
