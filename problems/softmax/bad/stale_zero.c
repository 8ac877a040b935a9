// problem: softmax
// fate: specialized
// fault: stale output
// outcomes: unwritten wrong
// when: input=wide and cols > 1 or input=special and cols > 1 or input=peak and cols > 1
// shows: an exponential underflows to 0: x < max - 104, or -inf beside finite values

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

/* The sum of exp(x - m) in blocks of 1024 terms, blocks added in double. */
static float row_sum(const float *x, int64_t cols, float m)
{
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        for (int64_t c = at; c < cols && c < at + 1024; ++c)
            sum += expf(x[c] - m);
        total += sum;
    }
    return (float)total;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = row_max(x, cols), total = row_sum(x, cols, m);
    for (int64_t c = 0; c < cols; ++c) {
        float e = expf(x[c] - m);
        /* planted: a zero is not stored, as if y were cleared before the call */
        if (e != 0.0f)
            y[c] = e / total;
    }
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
