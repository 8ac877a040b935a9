// problem: softmax
// fate: specialized
// fault: 32-bit index overflow
// outcomes: unwritten
// when: rows > 4096
// shows: rows > 4096 (row and column packed into 12 + 20 bits)

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
    for (int64_t c = 0; c < cols; ++c)
        y[c] = expf(x[c] - m) / total;
}

/* x, y are [rows, cols] */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1)
    for (int64_t r = 0; r < rows; ++r) {
        /* planted: row << 20 | column in 32 bits drops the row's bits from 12 up */
        uint32_t item = (uint32_t)r << 20;
        int64_t row = item >> 20, at = row * cols + (item & 0xfffff);
        row_softmax(x + at, y + at, cols);
    }
    return 0;
}
