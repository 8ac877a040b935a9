// problem: softmax
// fate: specialized
// fault: serial fp32 sum in four chains
// outcomes: wrong
// when: input=digits and cols > 16384 or cols > 65536 and input!=equal and input!=extreme and input!=wide
// shows: cols > 18500 where a large term comes before very many small ones

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* planted: four chains of cols / 4 fp32 additions: long enough for the published rows, while in
 * longer ones the chain of a large term loses the small ones */
static float row_exp(const float *x, float *y, int64_t cols, float m)
{
    float chain[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int64_t c = 0; c < cols; ++c) {
        y[c] = expf(x[c] - m);
        chain[c % 4] += y[c];
    }
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
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
