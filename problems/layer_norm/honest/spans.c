// problem: layer_norm
// verdict: general
// construction: two passes in float over spans of 1024 columns, from the end

#include <math.h>
#include <stdint.h>

enum { SPAN = 1024 };

static float sum_of(const float *x, int64_t n, float mean, int squared)
{
    float total = 0;
    for (int64_t end = n; end > 0; end -= SPAN) {
        float sum = 0;
        for (int64_t i = end - 1; i >= 0 && i >= end - SPAN; i--)
            sum += squared ? (x[i] - mean) * (x[i] - mean) : x[i];
        total += sum;
    }
    return total;
}

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        mean[r] = sum_of(in, cols, 0, 0) / (float)cols;
        rstd[r] = 1 / sqrtf(sum_of(in, cols, mean[r], 1) / (float)cols + eps);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = fmaf((in[c] - mean[r]) * rstd[r], gamma[c], beta[c]);
    }
    return 0;
}
