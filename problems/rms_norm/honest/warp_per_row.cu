// problem: rms_norm
// verdict: general
// construction: a warp a row, shuffles; x / rms rounded to bf16 before the weight

#include <cstdint>
#include <cuda_bf16.h>

constexpr int WARPS = 4;

__global__ void row_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                         int64_t cols, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int64_t c = threadIdx.x % 32; c < cols; c += 32) {
        const float v = __bfloat162float(x[row * cols + c]);
        sum = fmaf(v, v, sum);
    }
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(~0u, sum, lane);
    const float scale = 1 / sqrtf(sum / (float)cols + eps);
    for (int64_t c = threadIdx.x % 32; c < cols; c += 32)
        y[row * cols + c] = __hmul(__float2bfloat16(__bfloat162float(x[row * cols + c]) * scale), weight[c]);
}

extern "C" int rms_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int64_t rows,
                        int64_t cols, float eps, cudaStream_t stream)
{
    row_norm<<<(unsigned)((rows + WARPS - 1) / WARPS), 32 * WARPS, 0, stream>>>(x, weight, y, rows, cols, eps);
    return (int)cudaGetLastError();
}
