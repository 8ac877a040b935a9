/* The k best of a row by a block, as keys, for candidates that differ from an honest one in a step. Radix
 * selection finds the k-th key, 8 bits a sweep. The keys up to it, in the order of their columns, go through
 * a bitonic sort. */
#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 256, WARP = 32, MAX_K = 4096, COLUMN_BITS = 20; /* n <= 2^20 */

/* The smaller the rank, the larger the float; +0 comes before -0. On bits the function is its own inverse. */
__device__ inline uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

/* Rank, then column: no two keys of a row are equal. */
__device__ inline uint64_t key_at(const float *in, int64_t c)
{
    return (uint64_t)rank_of(__float_as_uint(in[c])) << COLUMN_BITS | (uint64_t)c;
}

__device__ inline void store_key(uint64_t key, float *value, int64_t *index)
{
    *value = __uint_as_float(rank_of((uint32_t)(key >> COLUMN_BITS)));
    *index = (int64_t)(key & ((1 << COLUMN_BITS) - 1));
}

/* The k-th smallest of the row's keys, or any number between it and the next key; in every thread of THREADS. */
__device__ inline uint64_t select_key(const float *in, int64_t n, int k)
{
    __shared__ int count[256], digit, left, inside;
    uint64_t prefix = 0;
    for (int shift = 48; shift >= 0; shift -= 8) { /* 56 bits hold a key */
        for (int d = threadIdx.x; d < 256; d += THREADS)
            count[d] = 0;
        __syncthreads();
        for (int64_t c = threadIdx.x; c < n; c += THREADS) {
            const uint64_t key = key_at(in, c);
            if (key >> shift >> 8 == prefix)
                atomicAdd(&count[key >> shift & 255], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int d = 0, wanted = k;
            while (wanted > count[d])
                wanted -= count[d++];
            digit = d;
            left = wanted;
            inside = count[d];
        }
        __syncthreads();
        k = left;
        prefix = prefix << 8 | (uint64_t)digit;
        if (inside == k) /* all that begin with this prefix are wanted */
            return ((prefix + 1) << shift) - 1;
        __syncthreads(); /* all have read digit, left and inside */
    }
    return prefix;
}

/* The row's k smallest keys, in the order of their columns, so that the result is the same in every run. */
__device__ inline void gather_keys(const float *in, int64_t n, int k, uint64_t *best)
{
    const uint64_t limit = select_key(in, n, k);
    int found = 0;
    for (int64_t first = 0; first < n && threadIdx.x < WARP; first += WARP) {
        const int64_t c = first + threadIdx.x;
        const uint64_t key = c < n ? key_at(in, c) : ~(uint64_t)0;
        const unsigned wanted = __ballot_sync(0xffffffffu, key <= limit);
        if (key <= limit)
            best[found + __popc(wanted & ((1u << threadIdx.x) - 1))] = key;
        found += __popc(wanted);
    }
}

/* Ascending where count is a power of two. Partners past count are left out. */
__device__ inline void bitonic_sort(uint64_t *key, int count)
{
    for (int run = 2; run < 2 * count; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < count; i += blockDim.x) {
                const int other = i ^ step;
                const uint64_t a = key[i];
                if (other <= i || other >= count || (a > key[other]) != ((i & run) == 0))
                    continue;
                key[i] = key[other];
                key[other] = a;
            }
        }
    __syncthreads();
}
