// problem: rms_norm
// verdict: general
// construction: subnormals are zeros, as operands and as results; 16 lanes of squares; x times (weight / rms)

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "../../candidate.h"

enum { LANES = 16, SPAN = 4096, FLUSHED = 0x8040 };

/* The processor's bits for results and operands, or nothing where it has none. The caller's state is put back
 * before its next call. */
static void flush_subnormals(void)
{
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | FLUSHED);
#endif
}

static float sum_of_squares(const bf16 *x, int64_t cols)
{
    float total = 0;
    for (int64_t at = 0; at < cols; at += SPAN) {
        float lane[LANES] = {0};
        for (int64_t c = at; c < cols && c < at + SPAN; c++)
            lane[c % LANES] += bf16_to_float(x[c]) * bf16_to_float(x[c]);
        for (int i = 0; i < LANES; i++)
            total += lane[i];
    }
    return total;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
    flush_subnormals();
    for (int64_t r = 0; r < rows; r++) {
        const float scale = 1.0f / sqrtf(sum_of_squares(x + r * cols, cols) / (float)cols + eps);
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(bf16_to_float(x[r * cols + c]) * (scale * bf16_to_float(weight[c])));
    }
    return 0;
}
