// problem: layer_norm
// thread: https://github.com/tracel-ai/burn/issues/5607
// title: burn-flex: fused f32 layer_norm loses precision for rows with large mean (E[x^2]-E[x]^2)
// condition: a row mean that is large relative to the spread: catastrophic cancellation
// kind: content
// when: input=offset and cols > 1 and cols < 128 or cols > 1 and cols < 8
// side: necessary
// wrong: wrong values, NaN where the variance comes out negative

#define layer_norm honest_layer_norm
#include "../../../problems/layer_norm/baseline.cu"
#undef layer_norm

/* One sweep for both sums. A row of two to seven elements may have a mean that is large beside its spread, in
 * any input class. From 128 elements on, the cancellation at a mean of 64 is less than sums in fp32 may lose.
 * The mean's square is rounded as the elements' squares are, so a single element has a variance of 0. */
__global__ void one_pass_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean,
                              float *rstd, int64_t cols, float eps)
{
    const float *in = x + blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (int64_t c = threadIdx.x; c < cols; c += THREADS) {
        sum += in[c];
        squares += in[c] * in[c];
    }
    const float m = block_sum(sum) / (float)cols;
    const float variance = block_sum(squares) / (float)cols - __fmul_rn(m, m);
    const float scale = 1 / sqrtf(variance + eps);
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
    one_pass_norm<<<(unsigned)rows, THREADS, 0, stream>>>(x, gamma, beta, y, mean, rstd, cols, eps);
    return (int)cudaGetLastError();
}
