// problem: softmax
// verdict: general
// construction: exp2f; the columns of one row over the cores in spans of 4096, rows one by one

#include <math.h>
#include <stdint.h>

#define LOG2E 1.44269504f

enum { SPAN = 4096, SPANS = 1048576 / SPAN };

/* x - m first: x * log2(e) - m * log2(e) would lose the digits of logits near 1e4. */
static inline float exp_term(float x, float m)
{
    return exp2f((x - m) * LOG2E);
}

static float span_max(const float *x, int64_t count)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < count; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* Four chains a span, of 1024 terms at most. */
static float span_exp(const float *x, float *y, int64_t count, float m)
{
    float chain[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int64_t c = 0; c < count; ++c) {
        y[c] = exp_term(x[c], m);
        chain[c % 4] += y[c];
    }
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    int spans = (int)((cols + SPAN - 1) / SPAN);
    float part[SPANS], m = -INFINITY, total = 0.0f;
#pragma omp parallel if (spans > 1)
    {
#pragma omp for reduction(max : m)
        for (int s = 0; s < spans; ++s) {
            int64_t at = (int64_t)s * SPAN;
            float top = span_max(x + at, cols - at < SPAN ? cols - at : SPAN);
            m = top > m ? top : m;
        }
#pragma omp for
        for (int s = 0; s < spans; ++s) {
            int64_t at = (int64_t)s * SPAN;
            part[s] = span_exp(x + at, y + at, cols - at < SPAN ? cols - at : SPAN, m);
        }
#pragma omp single
        for (int s = 0; s < spans; ++s)
            total += part[s];
#pragma omp for
        for (int64_t c = 0; c < cols; ++c)
            y[c] /= total;
    }
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
