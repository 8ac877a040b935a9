// problem: layer_norm
// verdict: general
// construction: a warp a row; each lane runs Welford, lanes are merged by Chan's rule

#include <cstdint>
#include <cuda_runtime.h>

constexpr int WARPS = 4;

struct Moments {
    float count, mean, deviations;
};

__device__ Moments merge(Moments a, Moments b)
{
    const float count = a.count + b.count, delta = b.mean - a.mean, share = count > 0 ? b.count / count : 0;
    return {count, a.mean + delta * share, a.deviations + b.deviations + delta * delta * a.count * share};
}

__global__ void row_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                         int64_t rows, int64_t cols, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    Moments m = {0, 0, 0};
    for (int64_t c = threadIdx.x % 32; c < cols; c += 32) {
        const float v = x[row * cols + c], delta = v - m.mean;
        m.count += 1;
        m.mean += delta / m.count;
        m.deviations += delta * (v - m.mean);
    }
    for (int lane = 16; lane > 0; lane /= 2) {
        const Moments other = {__shfl_xor_sync(~0u, m.count, lane), __shfl_xor_sync(~0u, m.mean, lane),
                               __shfl_xor_sync(~0u, m.deviations, lane)};
        m = threadIdx.x & lane ? merge(other, m) : merge(m, other); /* the same bits in both */
    }
    const float scale = rsqrtf(m.deviations / (float)cols + eps);
    for (int64_t c = threadIdx.x % 32; c < cols; c += 32)
        y[row * cols + c] = (x[row * cols + c] - m.mean) * scale * gamma[c] + beta[c];
    if (threadIdx.x % 32 == 0) {
        mean[row] = m.mean;
        rstd[row] = scale;
    }
}

extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    row_norm<<<(unsigned)((rows + WARPS - 1) / WARPS), 32 * WARPS, 0, stream>>>(x, gamma, beta, y, mean, rstd, rows,
                                                                                cols, eps);
    return (int)cudaGetLastError();
}
