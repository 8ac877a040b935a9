// problem: layer_norm
// verdict: general
// construction: one thread a row, sums in double

#include <cstdint>
#include <cuda_runtime.h>

__global__ void row_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                         int64_t rows, int64_t cols, float eps)
{
    const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *in = x + row * cols;
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < cols; c++)
        sum += in[c];
    const double m = sum / (double)cols;
    for (int64_t c = 0; c < cols; c++)
        squares += (in[c] - m) * (in[c] - m);
    const double scale = 1 / sqrt(squares / (double)cols + eps);
    mean[row] = (float)m;
    rstd[row] = (float)scale;
    for (int64_t c = 0; c < cols; c++)
        y[row * cols + c] = (float)((in[c] - m) * scale) * gamma[c] + beta[c];
}

extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    row_norm<<<(unsigned)((rows + 63) / 64), 64, 0, stream>>>(x, gamma, beta, y, mean, rstd, rows, cols, eps);
    return (int)cudaGetLastError();
}
