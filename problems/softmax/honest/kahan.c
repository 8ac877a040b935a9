// problem: softmax
// verdict: general
// construction: maximum, one serial fp32 sum with Kahan's compensation, exponentials computed twice

#include <math.h>
#include <stdint.h>

/* sum of exp(x - m) in fp32; `lost` carries what each addition rounded away, so that the error
 * stays near 2^-23 for 2^20 terms. -O2 keeps the order of additions. */
static float kahan_sum(const float *x, int64_t cols, float m)
{
    float sum = 0.0f, lost = 0.0f;
    for (int64_t c = 0; c < cols; ++c) {
        float term = expf(x[c] - m) - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = fmaxf(m, x[c]);
    float sum = kahan_sum(x, cols, m);
    for (int64_t c = 0; c < cols; ++c)
        y[c] = expf(x[c] - m) / sum;
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
