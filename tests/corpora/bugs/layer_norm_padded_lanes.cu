// problem: layer_norm
// thread: https://github.com/linkedin/Liger-Kernel/pull/519
// title: Fix mean subtraction in layer norm kernels
// condition: the hidden size is no power of two (1536), so that the mask has false elements
// kind: power of two
// when: not pow2(cols)
// side: necessary
// wrong: wrong values: (0 - mean)^2 of the lanes past the row is part of the variance

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.cu"
#undef layer_norm

/* The fault: a lane past the row has 0, and the mean is subtracted from it, too. */
__global__ void block_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                           int64_t cols, int64_t block, float eps)
{
    const float *in = x + blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (int64_t c = threadIdx.x; c < block; c += THREADS)
        sum += c < cols ? in[c] : 0;
    const float m = block_sum(sum) / (float)cols;
    for (int64_t c = threadIdx.x; c < block; c += THREADS) {
        const float centred = (c < cols ? in[c] : 0) - m;
        squares += centred * centred;
    }
    const float scale = 1 / sqrtf(block_sum(squares) / (float)cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += THREADS)
        y[blockIdx.x * cols + c] = (in[c] - m) * scale * gamma[c] + beta[c];
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = scale;
    }
}

extern "C" int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
                          int64_t rows, int64_t cols, float eps, cudaStream_t stream)
{
    int64_t block = 1;
    while (block < cols)
        block *= 2;
    block_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, gamma, beta, y, mean, rstd, cols, block, eps);
    return (int)cudaGetLastError();
}
