// problem: gemm_w4a16
// verdict: general
// construction: matrix-vector: a warp per 32 columns and eighth of k, 4 rows of x at once, no tiles
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int ROWS = 4, WARPS = 8;

struct problem {
    const __nv_bfloat16 *x;
    const uint8_t *w_q;
    const __nv_bfloat16 *scales, *zeros;
    __nv_bfloat16 *y;
    int64_t m, n, k, group;
};

/* sum[i] += the terms first .. last - 1 of rows row0 + i and one column; all in one group */
__device__ void add_terms(float (&sum)[ROWS], const problem &g, int64_t row0, int64_t col,
                          int64_t first, int64_t last)
{
    const int64_t at = first / g.group * g.n + col;
    const float scale = __bfloat162float(g.scales[at]), zero = __bfloat162float(g.zeros[at]);

    for (int64_t p = first; p < last; p += 2) {
        const uint8_t byte = g.w_q[p / 2 * g.n + col];
        const float low = (float(byte & 15) - zero) * scale;
        const float high = (float(byte >> 4) - zero) * scale;
#pragma unroll
        for (int i = 0; i < ROWS; i++) { /* past the last row: that row again, not stored */
            const int64_t row = row0 + i < g.m ? row0 + i : g.m - 1;
            const float2 x = /* k and p are even; the same for all lanes */
                __bfloat1622float2(*(const __nv_bfloat162 *)(g.x + row * g.k + p));
            sum[i] += x.x * low + x.y * high;
        }
    }
}

/* Warp w takes the groups w, w + 8, ..; the eight sums of an element meet in shared memory. */
__global__ void __launch_bounds__(32 * WARPS) gemv(problem g)
{
    __shared__ float part[WARPS][ROWS][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t row0 = (int64_t)blockIdx.y * ROWS, col = (int64_t)blockIdx.x * 32 + lane;
    float sum[ROWS] = {};

    if (col < g.n)
        for (int64_t first = warp * g.group; first < g.k; first += WARPS * g.group)
            add_terms(sum, g, row0, col, first, first + g.group < g.k ? first + g.group : g.k);
    for (int i = 0; i < ROWS; i++)
        part[warp][i][lane] = sum[i];
    __syncthreads();
    if (warp >= ROWS || row0 + warp >= g.m || col >= g.n)
        return;
    float total = 0; /* warp i finishes row i */
    for (int w = 0; w < WARPS; w++)
        total += part[w][warp][lane];
    g.y[(row0 + warp) * g.n + col] = __float2bfloat16(total);
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const problem g = {x, w_q, scales, zeros, y, m, n, k, group};
    const dim3 grid((unsigned)((n + 31) / 32), (unsigned)((m + ROWS - 1) / ROWS));

    gemv<<<grid, 32 * WARPS, 0, stream>>>(g);
    return (int)cudaGetLastError();
}
