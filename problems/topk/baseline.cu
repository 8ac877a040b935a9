// problem: topk
// verdict: general
// construction: one block of 512 threads a row: radix selection of the k-th key, 8 bits a sweep,
//   then the k keys into shared memory and a bitonic sort of them

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, MAX_K = 4096;
constexpr int COLUMN_BITS = 20; /* n <= 2^20 */

/* The smaller the rank, the larger the float; +0 comes before -0, as good an order as any. On bits
 * the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

/* rank, then column: no two keys of a row are equal, so exactly k lie up to the k-th. */
__device__ uint64_t key_at(const float *in, int64_t c)
{
    return (uint64_t)rank_of(__float_as_uint(in[c])) << COLUMN_BITS | (uint64_t)c;
}

/* The k-th smallest of the row's keys, or any key between it and the next; in every thread. */
__device__ uint64_t select_key(const float *in, int64_t n, int k)
{
    __shared__ int count[256], digit, left, inside;
    uint64_t prefix = 0;
    for (int shift = 48; shift >= 0; shift -= 8) { /* 56 bits hold a key */
        for (int d = threadIdx.x; d < 256; d += THREADS)
            count[d] = 0;
        __syncthreads();
        for (int64_t c = threadIdx.x; c < n; c += THREADS) {
            uint64_t key = key_at(in, c);
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

/* Ascending; size is a power of two. */
__device__ void bitonic_sort(uint64_t *key, int size)
{
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size; i += THREADS) {
                int other = i ^ step;
                if (i > other)
                    continue;
                uint64_t a = key[i], b = key[other];
                if ((a > b) == ((i & run) == 0)) {
                    key[i] = b;
                    key[other] = a;
                }
            }
        }
    }
    __syncthreads();
}

__global__ void row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k)
{
    __shared__ uint64_t best[MAX_K];
    __shared__ int found;
    const float *in = x + blockIdx.x * n;
    int64_t out = (int64_t)blockIdx.x * k;
    int size = 1;
    while (size < k)
        size *= 2;
    for (int i = threadIdx.x; i < size; i += THREADS)
        best[i] = ~(uint64_t)0; /* padding sorts behind every key */
    if (threadIdx.x == 0)
        found = 0;
    uint64_t limit = select_key(in, n, k); /* has barriers */
    for (int64_t c = threadIdx.x; c < n; c += THREADS) {
        uint64_t key = key_at(in, c);
        if (key <= limit)
            best[atomicAdd(&found, 1)] = key;
    }
    bitonic_sort(best, size);
    for (int j = threadIdx.x; j < k; j += THREADS) {
        values[out + j] = __uint_as_float(rank_of((uint32_t)(best[j] >> COLUMN_BITS)));
        indices[out + j] = (int64_t)(best[j] & ((1 << COLUMN_BITS) - 1));
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    row_topk<<<(unsigned)rows, THREADS, 0, stream>>>(x, values, indices, n, (int)k);
    return (int)cudaGetLastError();
}
