// problem: layer_norm
// verdict: general
// construction: one block of 256 threads a row, three sweeps, a tree in shared memory

#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__device__ float block_sum(float value)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    const float sum = shared[0];
    __syncthreads(); /* all have read it before shared is used again */
    return sum;
}

__global__ void row_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                         int64_t cols, float eps)
{
    const float *in = x + blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        sum += in[c];
    const float m = block_sum(sum) / (float)cols;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        squares += (in[c] - m) * (in[c] - m);
    const float scale = 1 / sqrtf(block_sum(squares) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = (in[c] - m) * scale * gamma[c] + beta[c];
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = scale;
    }
}

/* x, y are [rows, cols], gamma and beta [cols], mean and rstd [rows] */
extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    row_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, gamma, beta, y, mean, rstd, cols, eps);
    return (int)cudaGetLastError();
}
