// problem: rms_norm
// verdict: general
// construction: x / rms rounded to bf16, then times the weight; sums of 512 terms in float, added up in float

#include "../../candidate.h"

enum { SPAN = 512 };

static float sum_of_squares(const bf16 *x, int64_t cols)
{
    float total = 0;
    for (int64_t at = 0; at < cols; at += SPAN) {
        float sum = 0;
        for (int64_t c = at; c < cols && c < at + SPAN; c++)
            sum += bf16_to_float(x[c]) * bf16_to_float(x[c]);
        total += sum;
    }
    return total;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
    for (int64_t r = 0; r < rows; r++) {
        const float root = sqrtf(sum_of_squares(x + r * cols, cols) / (float)cols + eps);
        for (int64_t c = 0; c < cols; c++) {
            const bf16 normal = float_to_bf16(bf16_to_float(x[r * cols + c]) / root);
            y[r * cols + c] = float_to_bf16(bf16_to_float(normal) * bf16_to_float(weight[c]));
        }
    }
    return 0;
}
