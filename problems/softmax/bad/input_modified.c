// problem: softmax
// fate: broken
// fault: input modified
// outcomes: modified crash
// when: any
// shows: every row of finite values but one that is equal to itself less its maximum

#include <math.h>
#include <stdint.h>

static float row_max(const float *x, int64_t cols)
{
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c)
        m = x[c] > m ? x[c] : m;
    return m;
}

static void row_softmax(const float *x, float *y, int64_t cols)
{
    /* planted: the maximum is subtracted in the input itself, and stays so */
    float *d = (float *)x;
    float m = row_max(x, cols);
    double total = 0.0;
    for (int64_t at = 0; at < cols; at += 1024) {
        float sum = 0.0f;
        for (int64_t c = at; c < cols && c < at + 1024; ++c) {
            d[c] -= m;
            y[c] = expf(d[c]);
            sum += y[c];
        }
        total += sum;
    }
    for (int64_t c = 0; c < cols; ++c)
        y[c] /= (float)total;
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
