// problem: topk
// verdict: specialized
// fault: duplicate indices
// outcomes: wrong unstable
// when: k > 64
// shows: two equals among the k, exchanged by the sort

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, MAX_K = 4096;
constexpr uint64_t NONE = ~(uint64_t)0;

/* rank << 20 | column, n <= 2^20: the better the key, the smaller. */
__device__ uint64_t key_at(const float *in, int64_t c)
{
    uint32_t bits = __float_as_uint(in[c]);
    return (uint64_t)(bits >> 31 ? bits : bits ^ 0x7fffffffu) << 20 | (uint64_t)c;
}

/* A key up to which there are exactly k, by bisection of the 52 bits; in every thread. */
__device__ uint64_t select_key(const float *in, int64_t n, int k)
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

/* Bitonic, ascending; size is a power of two up to MAX_K, 8 keys a thread. */
__device__ void sort_keys(uint64_t *key, int size)
{
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            uint64_t kept[MAX_K / THREADS];
            __syncthreads();
            for (int t = 0, i = threadIdx.x; i < size; ++t, i += THREADS) {
                uint64_t own = key[i], other = key[i ^ step];
                bool least = (i < (i ^ step)) == ((i & run) == 0);
                /* planted: both sides compare values only, and of two equals both keep the same */
                kept[t] = least ? (own >> 20 <= other >> 20 ? own : other)
                                : (own >> 20 > other >> 20 ? own : other);
            }
            __syncthreads();
            for (int t = 0, i = threadIdx.x; i < size; ++t, i += THREADS)
                key[i] = kept[t];
        }
    }
    __syncthreads();
}

/* A block a row. */
__global__ void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k)
{
    __shared__ uint64_t best[MAX_K];
    __shared__ int found;
    const float *in = x + blockIdx.x * n;
    int64_t out = (int64_t)blockIdx.x * k;
    int size = 64;
    while (size < k)
        size *= 2;
    for (int i = threadIdx.x; i < size; i += THREADS)
        best[i] = NONE;
    if (threadIdx.x == 0)
        found = 0;
    uint64_t limit = select_key(in, n, k); /* has barriers */
    __syncthreads();
    for (int64_t c = threadIdx.x; c < n; c += THREADS) {
        uint64_t key = key_at(in, c);
        if (key <= limit)
            best[atomicAdd(&found, 1)] = key;
    }
    if (k <= 64) {
        __syncthreads();
        store_sorted(best, k, values + out, indices + out);
        return;
    }
    sort_keys(best, size);
    for (int j = threadIdx.x; j < k; j += THREADS)
        store(best[j], values + out + j, indices + out + j);
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    row_topk<<<(unsigned)rows, THREADS, 0, stream>>>(x, values, indices, n, (int)k);
    return (int)cudaGetLastError();
}
