// problem: topk
// verdict: general
// construction: as many blocks as fit take rows from a queue; columns better than the k-th so far
//   go to a buffer in shared memory, which is sorted and cut whenever it is full

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 1024, MAX_BUFFER = 8192;
constexpr uint64_t NONE = ~(uint64_t)0;

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

/* Ascending; size is a power of two. */
__device__ void bitonic_sort(uint64_t *key, int size)
{
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < size / 2; t += THREADS) {
                int low = 2 * t - (t & (step - 1)), high = low + step;
                uint64_t a = key[low], b = key[high];
                if ((a > b) == ((low & run) == 0)) {
                    key[low] = b;
                    key[high] = a;
                }
            }
        }
    }
    __syncthreads();
}

/* buffer[count..size-1] becomes padding, then all is sorted. */
__device__ void sort_buffer(uint64_t *buffer, int count, int size)
{
    for (int i = count + threadIdx.x; i < size; i += THREADS)
        buffer[i] = NONE;
    bitonic_sort(buffer, size);
}

/* size >= k + THREADS: after a cut all columns of one round fit. */
__device__ void row_topk(const float *in, float *values, int64_t *indices, int64_t n, int k,
                         uint64_t *buffer, int size)
{
    __shared__ int count;
    uint64_t limit = NONE;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    for (int64_t at = 0; at < n; at += THREADS) {
        int64_t c = at + threadIdx.x;
        uint64_t key = NONE;
        if (c < n)
            key = (uint64_t)rank_of(__float_as_uint(in[c])) << 32 | (uint64_t)c;
        if (key < limit)
            buffer[atomicAdd(&count, 1)] = key;
        __syncthreads();
        int held = count;
        __syncthreads(); /* all have read count before it changes */
        if (held > size - THREADS) { /* and so more than k */
            sort_buffer(buffer, held, size);
            limit = buffer[k - 1];
            if (threadIdx.x == 0)
                count = k;
            __syncthreads();
        }
    }
    sort_buffer(buffer, count, size);
    for (int j = threadIdx.x; j < k; j += THREADS) {
        values[j] = __uint_as_float(rank_of((uint32_t)(buffer[j] >> 32)));
        indices[j] = (int64_t)(buffer[j] & 0xffffffffu);
    }
}

__global__ void __launch_bounds__(THREADS)
serve(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int k,
      unsigned *queue, int size)
{
    extern __shared__ uint64_t buffer[];
    __shared__ unsigned taken;
    for (;;) {
        __syncthreads(); /* the row before is done with buffer and taken */
        if (threadIdx.x == 0)
            taken = atomicAdd(queue, 1u);
        __syncthreads();
        const int64_t row = taken;
        if (row >= rows)
            return;
        row_topk(x + row * n, values + row * k, indices + row * k, n, k, buffer, size);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    const int most = MAX_BUFFER * (int)sizeof(uint64_t);
    int device, processors, size = 2 * THREADS;
    unsigned *queue;
    while (size < k + THREADS)
        size *= 2;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaFuncSetAttribute(serve, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (status == cudaSuccess)
        status = cudaMallocAsync((void **)&queue, sizeof *queue, stream);
    if (status != cudaSuccess)
        return (int)status;
    cudaMemsetAsync(queue, 0, sizeof *queue, stream);
    unsigned blocks = (unsigned)(rows < 2 * processors ? rows : 2 * processors);
    serve<<<blocks, THREADS, size * sizeof(uint64_t), stream>>>(x, values, indices, rows, n, (int)k,
                                                                queue, size);
    status = cudaGetLastError();
    cudaFreeAsync(queue, stream);
    return (int)status;
}
