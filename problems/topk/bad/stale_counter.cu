// problem: topk
// verdict: broken
// fault: stale output
// outcomes: wrong unwritten unstable
// when: any
// shows: every call but the first that has the row

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
        if (best[i] != NONE)
            store(best[i], values + place, indices + place);
    }
}

/* planted: zero when the module is loaded, and never cleared after a call */
__device__ int found[65536];

/* A block a row. */
__global__ void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k)
{
    __shared__ uint64_t best[MAX_K];
    const float *in = x + blockIdx.x * n;
    int64_t out = (int64_t)blockIdx.x * k;
    for (int i = threadIdx.x; i < k; i += THREADS)
        best[i] = NONE;
    uint64_t limit = select_key(in, n, k); /* has barriers */
    __syncthreads();
    for (int64_t c = threadIdx.x; c < n; c += THREADS) {
        uint64_t key = key_at(in, c);
        if (key > limit)
            continue;
        unsigned slot = (unsigned)atomicAdd(&found[blockIdx.x], 1);
        if (slot < (unsigned)k)
            best[slot] = key;
    }
    __syncthreads();
    store_sorted(best, k, values + out, indices + out);
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    row_topk<<<(unsigned)rows, THREADS, 0, stream>>>(x, values, indices, n, (int)k);
    return (int)cudaGetLastError();
}
