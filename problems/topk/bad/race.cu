// problem: topk
// verdict: broken
// fault: race
// outcomes: wrong unwritten unstable
// when: n >= 2048
// shows: nearly always

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, MAX_K = 4096, WAYS = 8;

/* rank << 20 | column, n <= 2^20: the better the key, the smaller. */
__device__ uint64_t key_at(const float *in, int64_t c)
{
    uint32_t bits = __float_as_uint(in[c]);
    return (uint64_t)(bits >> 31 ? bits : bits ^ 0x7fffffffu) << 20 | (uint64_t)c;
}

__device__ uint64_t key_at(const uint64_t *keys, int64_t i)
{
    return keys[i];
}

/* A key up to which there are exactly k, if there are k, by bisection of the 52 bits; in every
 * thread. */
template <class In>
__device__ uint64_t select_key(const In *in, int64_t n, int k)
{
    __shared__ int count;
    uint64_t low = 0, high = ((uint64_t)1 << 52) - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int mine = 0;
        for (int64_t c = threadIdx.x; c < n; c += THREADS)
            mine += key_at(in, c) <= middle;
        __syncthreads(); /* all have read the count before */
        if (threadIdx.x == 0)
            count = 0;
        __syncthreads();
        atomicAdd(&count, mine);
        __syncthreads();
        if (count == k)
            return middle;
        if (count > k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

__device__ void store(uint64_t key, float *value, int64_t *index)
{
    uint32_t rank = (uint32_t)(key >> 20);
    *value = __uint_as_float(rank >> 31 ? rank : rank ^ 0x7fffffffu);
    *index = (int64_t)(key & 0xfffff);
}

/* Each key goes to the place that the number of better ones gives. */
__device__ void store_sorted(const uint64_t *best, int count, float *values, int64_t *indices)
{
    for (int i = threadIdx.x; i < count; i += THREADS) {
        int place = 0;
        for (int j = 0; j < count; ++j)
            place += best[j] < best[i];
        store(best[i], values + place, indices + place);
    }
}

/* The keys up to the limit, in any order; returns their number, k at most. */
template <class In>
__device__ int gather(const In *in, int64_t n, int k, uint64_t limit, uint64_t *keys)
{
    __shared__ int found;
    __syncthreads();
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int64_t c = threadIdx.x; c < n; c += THREADS) {
        uint64_t key = key_at(in, c);
        int slot = key <= limit ? atomicAdd(&found, 1) : k;
        if (slot < k)
            keys[slot] = key;
    }
    __syncthreads();
    return min(found, k);
}

/* Block w of a row finds the k best of its columns; block 0, which has the fewest, merges. */
__global__ void row_topk(const float *x, uint64_t *parts, float *values, int64_t *indices,
                         int64_t n, int k, int ways)
{
    __shared__ uint64_t best[MAX_K];
    int64_t row = blockIdx.x / ways, w = blockIdx.x % ways, first = ways > 1 ? n / 16 : n;
    int64_t from = w ? first + (n - first) * (w - 1) / (ways - 1) : 0;
    int64_t to = w ? first + (n - first) * w / (ways - 1) : first;
    const float *in = x + row * n + from;
    uint64_t *part = parts + (row * ways + w) * k;
    int count = gather(in, to - from, k, select_key(in, to - from, k), best);
    for (int i = threadIdx.x; i < count; i += THREADS)
        part[i] = best[i] + (uint64_t)from;
    /* planted: nothing waits for the other blocks of the row, whose parts are still empty */
    if (w == 0) {
        __syncthreads();
        count = gather(part, ways * k, k, select_key(part, ways * k, k), best);
        store_sorted(best, count, values + row * k, indices + row * k);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    int ways = n >= 2048 ? WAYS : 1;
    size_t bytes = (size_t)(rows * ways * k) * sizeof(uint64_t);
    uint64_t *parts;
    cudaError_t status = cudaMallocAsync((void **)&parts, bytes, stream);
    if (status != cudaSuccess)
        return (int)status;
    cudaMemsetAsync(parts, 0xff, bytes, stream); /* behind every key */
    row_topk<<<(unsigned)(rows * ways), THREADS, 0, stream>>>(x, parts, values, indices, n, (int)k,
                                                              ways);
    status = cudaGetLastError();
    cudaFreeAsync(parts, stream);
    return (int)status;
}
