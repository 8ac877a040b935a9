// problem: softmax
// fate: specialized
// fault: special values
// outcomes: wrong
// when: input=special
// shows: a row with NaN, with +inf, or of -inf only: numbers are written

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* planted: what is not a number counts as masked out, and a row without a finite value as zeros */
static inline float term(float x, float m)
{
    float e = expf(x - m);
    return e >= 0.0f ? e : 0.0f;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = row_max(x, cols);
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        for (int64_t c = at; c < cols && c < at + 1024; ++c)
            sum += term(x[c], m);
        total += sum;
    }
    float scale = total > 0.0 ? (float)(1.0 / total) : 0.0f;
    for (int64_t c = 0; c < cols; ++c)
        y[c] = term(x[c], m) * scale;
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
