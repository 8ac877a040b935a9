// problem: rms_norm
// verdict: general
// construction: a row's sum of squares in double, then its elements; rows over the cores

#include "../candidate.h"

/* x, y are [rows, cols], weight is [cols] */
int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *in = x + r * cols;
        bf16 *out = y + r * cols;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += (double)bf16_to_float(in[c]) * (double)bf16_to_float(in[c]);
        const float scale = (float)(1 / sqrt(sum / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            out[c] = float_to_bf16(bf16_to_float(in[c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
