// problem: softmax
// verdict: general
// construction: maximum, exponentials into the output, pairwise (cascade) fp32 sum by recursion

#include <math.h>
#include <stdint.h>

/* Error about log2(count) 2^-24: halves are summed apart, leaves of 64 terms directly. */
static float pairwise_sum(const float *v, int64_t count)
{
    if (count > 64) {
        int64_t half = count / 2;
        return pairwise_sum(v, half) + pairwise_sum(v + half, count - half);
    }
    float sum = 0.0f;
    for (int64_t i = 0; i < count; ++i)
        sum += v[i];
    return sum;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = fmaxf(m, x[c]);
    for (int64_t c = 0; c < cols; ++c)
        y[c] = expf(x[c] - m);
    float scale = 1.0f / pairwise_sum(y, cols);
    for (int64_t c = 0; c < cols; ++c)
        y[c] *= scale;
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
