// problem: rms_norm
// verdict: general
// construction: pairwise sums of squares in float; the weight times the reciprocal root first

#include "../../candidate.h"

static float pairwise(const bf16 *x, int64_t n)
{
    if (n > 16)
        return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
    float sum = 0;
    for (int64_t i = n - 1; i >= 0; i--)
        sum = fmaf(bf16_to_float(x[i]), bf16_to_float(x[i]), sum);
    return sum;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float scale = 1 / sqrtf(pairwise(x + r * cols, cols) * (1 / (float)cols) + eps);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(bf16_to_float(weight[c]) * scale * bf16_to_float(x[r * cols + c]));
    }
    return 0;
}
