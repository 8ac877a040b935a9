// problem: softmax
// fate: broken
// fault: lower precision
// outcomes: wrong
// when: cols > 1 and input!=equal
// shows: cols > 1 (exponentials rounded to bf16: relative error up to 2^-9)

#include "../../candidate.h"

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* planted: each exponential is rounded to bf16, both in the sum and in the output */
static float row_exp(const float *x, float *y, int64_t cols, float m)
{
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        for (int64_t c = at; c < cols && c < at + 1024; ++c) {
            y[c] = bf16_to_float(float_to_bf16(expf(x[c] - m)));
            sum += y[c];
        }
        total += sum;
    }
    return (float)total;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float total = row_exp(x, y, cols, row_max(x, cols));
    for (int64_t c = 0; c < cols; ++c)
        y[c] /= total;
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
