// problem: softmax
// verdict: general
// construction: one warp a row; up to 1024 columns stay in registers, longer rows are reread

#include <cstdint>
#include <cuda_runtime.h>

constexpr int WARPS = 4, HELD = 32;

static __device__ float warp_max(float value)
{
    for (int lane = 16; lane > 0; lane /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lane));
    return value;
}

static __device__ float warp_sum(float value)
{
    for (int lane = 16; lane > 0; lane /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lane);
    return value;
}

/* cols <= 32 * HELD: lane l holds columns l, l + 32, .. */
static __device__ void short_row(const float *in, float *out, int cols, int lane)
{
    float v[HELD], max = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        v[i] = lane + 32 * i < cols ? in[lane + 32 * i] : -INFINITY;
        max = fmaxf(max, v[i]);
    }
    max = warp_max(max);
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        v[i] = expf(v[i] - max);
        sum += v[i]; /* NaN for a row of -inf only, rightly, also from the padding */
    }
    float scale = 1.0f / warp_sum(sum);
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        if (lane + 32 * i < cols)
            out[lane + 32 * i] = v[i] * scale;
}

/* A lane of a long row adds 2^20 / 32 = 32768 terms: in sums of 512 first, those one by one. */
static __device__ void long_row(const float *in, float *out, int64_t cols, int lane)
{
    float max = -INFINITY, total = 0.0f;
    for (int64_t c = lane; c < cols; c += 32)
        max = fmaxf(max, in[c]);
    max = warp_max(max);
    for (int64_t at = 0; at < cols; at += 32 * 512) {
        int64_t end = at + 32 * 512 < cols ? at + 32 * 512 : cols;
        float sum = 0.0f;
        for (int64_t c = at + lane; c < end; c += 32)
            sum += expf(in[c] - max);
        total += sum;
    }
    float scale = 1.0f / warp_sum(total);
    for (int64_t c = lane; c < cols; c += 32)
        out[c] = expf(in[c] - max) * scale;
}

__global__ void __launch_bounds__(32 * WARPS)
row_softmax(const float *x, float *y, int64_t rows, int64_t cols)
{
    int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    if (cols <= 32 * HELD)
        short_row(x + row * cols, y + row * cols, (int)cols, threadIdx.x % 32);
    else
        long_row(x + row * cols, y + row * cols, cols, threadIdx.x % 32);
}

/* x, y are [rows, cols] */
extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    row_softmax<<<(unsigned)((rows + WARPS - 1) / WARPS), 32 * WARPS, 0, stream>>>(x, y, rows,
                                                                                   cols);
    return (int)cudaGetLastError();
}
