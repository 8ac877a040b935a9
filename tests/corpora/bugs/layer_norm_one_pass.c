// problem: layer_norm
// link: https://github.com/tracel-ai/burn/issues/5607
// title: burn-flex: fused f32 layer_norm loses precision for rows with large mean (E[x^2]-E[x]^2)
// condition: a row mean that is large relative to the spread: catastrophic cancellation
// kind: content
// when: cols > 1 and input=offset or cols > 1 and cols < 8
// side: necessary
// wrong: wrong values, NaN where the variance comes out negative

#include <math.h>
#include <stdint.h>

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        float sum[64] = {0}, squares[64] = {0}, all = 0, all_squares = 0;
        for (int64_t c = 0; c < cols; c++) {
            sum[c % 64] += in[c];
            squares[c % 64] += in[c] * in[c];
        }
        for (int lane = 0; lane < 64; lane++) {
            all += sum[lane];
            all_squares += squares[lane];
        }
        mean[r] = all / (float)cols;
        rstd[r] = 1 / sqrtf(all_squares / (float)cols - mean[r] * mean[r] + eps);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (in[c] - mean[r]) * rstd[r] * gamma[c] + beta[c];
    }
    return 0;
}
