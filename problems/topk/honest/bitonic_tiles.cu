// problem: topk
// verdict: general
// construction: one block a row holds a sorted list in shared memory; tile after tile of columns is
//   sorted the other way round, and a bitonic merge keeps the better half of both

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, MIN_TILE = 1024, MAX_K = 4096;
constexpr uint64_t NONE = ~(uint64_t)0; /* behind every key: its rank would be that of a NaN */

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

/* A step of a bitonic network: pairs `step` apart, ascending where the index lacks bit `run`, the
 * other way round if `down`. */
__device__ void exchange(uint64_t *key, int size, int run, int step, bool down)
{
    __syncthreads();
    for (int t = threadIdx.x; t < size / 2; t += THREADS) {
        int low = 2 * t - (t & (step - 1)), high = low + step;
        uint64_t a = key[low], b = key[high];
        if ((a > b) == (((low & run) == 0) != down)) {
            key[low] = b;
            key[high] = a;
        }
    }
}

/* Loads columns at..at+size-1; true if one of them belongs into the list. */
__device__ bool load_tile(uint64_t *tile, const float *in, int64_t at, int64_t n, int size,
                          uint64_t worst)
{
    bool better = false;
    for (int i = threadIdx.x; i < size; i += THREADS) {
        uint64_t key = NONE;
        if (at + i < n)
            key = (uint64_t)rank_of(__float_as_uint(in[at + i])) << 32 | (uint64_t)(at + i);
        better = better || key < worst;
        tile[i] = key;
    }
    return __syncthreads_or(better);
}

/* list and tile have `size` keys each, a power of two. */
__device__ void merge_tile(uint64_t *list, uint64_t *tile, int size)
{
    for (int run = 2; run <= size; run *= 2)
        for (int step = run / 2; step > 0; step /= 2)
            exchange(tile, size, run, step, true);
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += THREADS) /* up, then down: the best half is bitonic */
        list[i] = min(list[i], tile[i]);
    for (int step = size / 2; step > 0; step /= 2)
        exchange(list, size, size, step, false);
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS)
row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k, int size)
{
    extern __shared__ uint64_t list[];
    uint64_t *tile = list + size;
    const float *in = x + blockIdx.x * n;
    int64_t out = (int64_t)blockIdx.x * k;
    for (int i = threadIdx.x; i < size; i += THREADS)
        list[i] = NONE;
    __syncthreads();
    for (int64_t at = 0; at < n; at += size) {
        if (load_tile(tile, in, at, n, size, list[k - 1]))
            merge_tile(list, tile, size);
    }
    for (int j = threadIdx.x; j < k; j += THREADS) {
        values[out + j] = __uint_as_float(rank_of((uint32_t)(list[j] >> 32)));
        indices[out + j] = (int64_t)(list[j] & 0xffffffffu);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    int size = MIN_TILE;
    while (size < k)
        size *= 2;
    cudaError_t status = cudaFuncSetAttribute(row_topk, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              2 * MAX_K * (int)sizeof(uint64_t));
    if (status != cudaSuccess)
        return (int)status;
    row_topk<<<(unsigned)rows, THREADS, 2 * size * sizeof(uint64_t), stream>>>(x, values, indices,
                                                                               n, (int)k, size);
    return (int)cudaGetLastError();
}
