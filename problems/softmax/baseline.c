// problem: softmax
// verdict: general
// construction: three sweeps a row: maximum, exponentials and their sum, scale; rows over the cores

#include <math.h>
#include <stdint.h>

/* One serial fp32 sum over 2^20 columns loses digits; sums of SPAN terms, added in double, do
 * not. */
enum { SPAN = 1024 };

/* A comparison with NaN is false, so NaN is never the maximum; it reaches the sum instead. */
static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
#pragma omp simd reduction(max : m)
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* y[c] = exp(x[c] - m); returns the sum. With m = +inf or -inf some term is inf - inf, which makes
 * the sum NaN. */
static double row_exp(const float *x, float *y, int64_t cols, float m)
{
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += SPAN) {
        int64_t end = at + SPAN < cols ? at + SPAN : cols;
        float sum = 0.0f;
        for (int64_t c = at; c < end; ++c) {
            y[c] = expf(x[c] - m);
            sum += y[c];
        }
        total += sum;
    }
    return total;
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; ++r) {
        const float *in = x + r * cols;
        float *out = y + r * cols;
        float scale = (float)(1.0 / row_exp(in, out, cols, row_max(in, cols)));
#pragma omp simd
        for (int64_t c = 0; c < cols; ++c)
            out[c] *= scale;
    }
    return 0;
}
