// problem: gemm_fp8
// verdict: general
// construction: a warp per column and 16 rows, lanes along k; sum rounded to bf16, then scaled
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int ROWS = 16, WARPS = 8;

__device__ float sum_over_lanes(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* Column `col` of y in the rows row0 .. row0 + ROWS - 1: `count` of them exist, the rest repeat the
 * last and are not stored. Every weight byte is read once for all of them. */
__device__ void column(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, float scale,
                       __nv_bfloat16 *y, int count, int64_t n, int64_t k)
{
    const int lane = threadIdx.x % 32;
    float sum[ROWS] = {};

    for (int64_t p = lane; p < k; p += 32) {
        const float w = float(weight[p]);
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            sum[i] += float(x[(i < count ? i : count - 1) * k + p]) * w;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float whole = __bfloat162float(__float2bfloat16(sum_over_lanes(sum[i])));
        if (lane == 0 && i < count)
            y[i * n] = __float2bfloat16(whole * scale);
    }
}

__global__ void __launch_bounds__(32 * WARPS)
    gemm(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale, __nv_bfloat16 *y,
         int64_t m, int64_t n, int64_t k)
{
    const int64_t col = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int64_t row0 = (int64_t)blockIdx.y * ROWS;
    const int count = m - row0 < ROWS ? (int)(m - row0) : ROWS;

    if (col < n) /* the same for a whole warp */
        column(x + row0 * k, weight + col * k, scale[col], y + row0 * n + col, count, n, k);
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + WARPS - 1) / WARPS), (unsigned)((m + ROWS - 1) / ROWS));

    gemm<<<grid, 32 * WARPS, 0, stream>>>(x, weight, scale, y, m, n, k);
    return (int)cudaGetLastError();
}
