// problem: topk
// verdict: general
// construction: one warp a row; its lanes are a sorted list of 32, into which shuffles merge 32
//   columns at a time; k above 32 takes a sweep for every 32, after a bisection for the k-th rank

#include <cstdint>
#include <cuda_runtime.h>

constexpr int WARPS = 4, AHEAD = 8; /* rows a block; loads in flight a lane */
constexpr uint64_t NONE = ~(uint64_t)0;
constexpr unsigned ALL = 0xffffffffu;

/* The smaller the rank, the larger the float; on bits the function is its own inverse. */
__device__ uint32_t rank_of(uint32_t bits)
{
    return bits >> 31 ? bits : bits ^ 0x7fffffffu;
}

/* Each lane and the one `step` away: the first of them gets the smaller key if `up`. */
__device__ uint64_t exchange(uint64_t key, int step, bool up)
{
    uint64_t other = __shfl_xor_sync(ALL, key, step);
    bool first = (threadIdx.x & step) == 0;
    return first == up ? min(key, other) : max(key, other);
}

/* list ascends over the lanes, before and after. */
__device__ uint64_t merge(uint64_t list, uint64_t key)
{
    for (int run = 2; run <= 32; run *= 2) /* key descends */
        for (int step = run / 2; step > 0; step /= 2)
            key = exchange(key, step, (threadIdx.x & run & 31) != 0);
    list = min(list, key); /* up, then down: the best half, bitonic */
    for (int step = 16; step > 0; step /= 2)
        list = exchange(list, step, true);
    return list;
}

/* The least rank up to which there are k columns at least. */
__device__ uint32_t kth_rank(const float *in, int64_t n, int64_t k)
{
    uint32_t low = 0, high = ~0u;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int count = 0;
#pragma unroll 8
        for (int64_t c = threadIdx.x % 32; c < n; c += 32)
            count += rank_of(__float_as_uint(in[c])) <= middle;
        if (__reduce_add_sync(ALL, count) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The 32 best keys from `least` on, of ranks up to `most`. */
__device__ uint64_t sweep(const float *in, int64_t n, uint64_t least, uint32_t most)
{
    int lane = threadIdx.x % 32;
    uint64_t list = NONE, worst = NONE;
    for (int64_t at = 0; at < n; at += 32 * AHEAD) {
        float value[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
            value[i] = at + 32 * i + lane < n ? in[at + 32 * i + lane] : 0.0f;
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            int64_t c = at + 32 * i + lane;
            uint32_t rank = rank_of(__float_as_uint(value[i]));
            uint64_t key = (uint64_t)rank << 32 | (uint64_t)c;
            if (c >= n || key < least || rank > most)
                key = NONE;
            if (__any_sync(ALL, key < worst)) {
                list = merge(list, key);
                worst = __shfl_sync(ALL, list, 31);
            }
        }
    }
    return list;
}

__global__ void __launch_bounds__(32 * WARPS)
row_topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k)
{
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) /* the whole warp */
        return;
    uint64_t least = 0;
    uint32_t most = k > 32 ? kth_rank(x + row * n, n, k) : ~0u; /* spares most of the merges */
    for (int64_t j = threadIdx.x % 32; j - threadIdx.x % 32 < k; j += 32) {
        uint64_t key = sweep(x + row * n, n, least, most);
        if (j < k) {
            values[row * k + j] = __uint_as_float(rank_of((uint32_t)(key >> 32)));
            indices[row * k + j] = (int64_t)(key & 0xffffffffu);
        }
        least = __shfl_sync(ALL, key, 31) + 1;
    }
}

/* x is [rows, n]; values and indices are [rows, k], best first */
extern "C" int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n,
                    int64_t k, cudaStream_t stream)
{
    unsigned blocks = (unsigned)((rows + WARPS - 1) / WARPS);
    row_topk<<<blocks, 32 * WARPS, 0, stream>>>(x, values, indices, rows, n, k);
    return (int)cudaGetLastError();
}
