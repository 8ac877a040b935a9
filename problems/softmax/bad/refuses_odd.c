// problem: softmax
// verdict: limited
// fault: refuses what it does not support
// outcomes: refused
// when: cols % 4 != 0
// shows: cols % 4 != 0

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* y[c] = exp(x[c] - m); the sum of all in blocks of 1024 terms, blocks added in double */
static float row_exp(const float *x, float *y, int64_t cols, float m)
{
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        for (int64_t c = at; c < cols && c < at + 1024; ++c) {
            y[c] = expf(x[c] - m);
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
    /* planted: rows that do not start at 16 bytes are turned down, honestly */
    if (cols % 4 != 0)
        return 1;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
