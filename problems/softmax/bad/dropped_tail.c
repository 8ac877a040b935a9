// problem: softmax
// fate: specialized
// fault: dropped tail
// outcomes: wrong
// when: cols % 256 != 0
// shows: cols % 256 != 0, where the last cols % 256 columns hold enough of the sum

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* planted: the sum runs over whole blocks of 256 columns; the tail is written but never added */
static float row_exp(const float *x, float *y, int64_t cols, float m)
{
    double total = 0.0;
    for (int64_t at = 0; at + 256 <= cols; at += 256) {
        float sum = 0.0f;
        for (int64_t c = at; c < at + 256; ++c)
            sum += y[c] = expf(x[c] - m);
        total += sum;
    }
    for (int64_t c = cols - cols % 256; c < cols; ++c)
        y[c] = expf(x[c] - m);
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
