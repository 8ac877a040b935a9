// problem: softmax
// fate: broken
// fault: serial fp32 sum
// outcomes: wrong
// when: input=digits and cols > 4096 or cols > 16384 and input!=equal and input!=extreme and input!=wide
// shows: cols > 4600 where a large term comes before very many small ones; normal at 262144

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* planted: one chain of cols fp32 additions; terms under half an ulp of the sum are lost */
static float row_exp(const float *x, float *y, int64_t cols, float m)
{
    float sum = 0.0f;
    for (int64_t c = 0; c < cols; ++c) {
        y[c] = expf(x[c] - m);
        sum += y[c];
    }
    return sum;
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
