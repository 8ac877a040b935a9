// problem: topk
// verdict: general
// construction: one block a row: bisection of the ranks for the k-th, compaction in column order by
//   a block-wide scan, no atomics; each key then counts the better ones to find its place

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, WARPS = THREADS / 32, MAX_K = 4096;
constexpr unsigned ALL = 0xffffffffu;

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

__device__ uint32_t rank_at(const float *in, int64_t c)
{
    return rank_of(__float_as_uint(in[c]));
}

/* The sum over the block in every thread. */
__device__ int block_sum(int value)
{
    __shared__ int part[WARPS];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(ALL, value, step);
    __syncthreads(); /* the readers of the last sum are done */
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int w = 0; w < WARPS; ++w)
        value += part[w];
    return value;
}

__device__ int count_up_to(const float *in, int64_t n, uint32_t limit)
{
    int mine = 0;
    for (int64_t c = threadIdx.x; c < n; c += THREADS)
        mine += rank_at(in, c) <= limit;
    return block_sum(mine);
}

/* The least rank up to which there are k columns at least. */
__device__ uint32_t kth_rank(const float *in, int64_t n, int k)
{
    uint32_t low = 0, high = ~0u;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (count_up_to(in, n, middle) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many of the threads before this one have `flag`; *total: how many of all. */
__device__ int flags_before(bool flag, int *total)
{
    __shared__ int part[WARPS];
    unsigned flags = __ballot_sync(ALL, flag);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;
    __syncthreads();
    if (lane == 0)
        part[warp] = __popc(flags);
    __syncthreads();
    *total = 0;
    for (int w = 0; w < WARPS; ++w) {
        before += w < warp ? part[w] : 0;
        *total += part[w];
    }
    return before + __popc(flags & ((1u << lane) - 1));
}

/* best: all ranks below limit, and of the columns that have it the first ones. */
__device__ void collect(uint64_t *best, const float *in, int64_t n, int k, uint32_t limit)
{
    const int above = limit > 0 ? count_up_to(in, n, limit - 1) : 0;
    int next = 0, tie = above, total; /* next places of both */
    for (int64_t at = 0; at < n && (next < above || tie < k); at += THREADS) {
        int64_t c = at + threadIdx.x;
        uint32_t rank = c < n ? rank_at(in, c) : ~0u; /* rank of a NaN, above any limit */
        int place = next + flags_before(rank < limit, &total);
        next += total;
        int tie_place = tie + flags_before(rank == limit, &total);
        tie += total;
        if (rank == limit)
            place = tie_place;
        if (rank <= limit && place < k)
            best[place] = (uint64_t)rank << 32 | (uint64_t)c;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS)
row_topk(const float *x, float *values, int64_t *indices, int64_t n, int k)
{
    __shared__ uint64_t best[MAX_K];
    const float *in = x + blockIdx.x * n;
    int64_t out = (int64_t)blockIdx.x * k;
    collect(best, in, n, k, kth_rank(in, n, k));
    for (int i = threadIdx.x; i < k; i += THREADS) {
        uint64_t own = best[i];
        int place = 0;
        for (int j = 0; j < k; ++j)
            place += best[j] < own;
        values[out + place] = __uint_as_float(rank_of((uint32_t)(own >> 32)));
        indices[out + place] = (int64_t)(own & 0xffffffffu);
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    row_topk<<<(unsigned)rows, THREADS, 0, stream>>>(x, values, indices, n, (int)k);
    return (int)cudaGetLastError();
}
