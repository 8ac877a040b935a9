// problem: softmax
// verdict: broken
// fault: race
// outcomes: wrong unstable
// when: cols >= 2048
// shows: cols >= 2048, nearly always

#include <math.h>
#include <omp.h>
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

enum { WAYS = 4 };

/* Each of up to WAYS threads owns a slice of the row. */
static void split_softmax(const float *x, float *y, int64_t cols)
{
    float peak[WAYS] = {0}, part[WAYS] = {0};
#pragma omp parallel num_threads(WAYS)
    {
        int ways = omp_get_num_threads(), w = omp_get_thread_num();
        int64_t lo = cols * w / ways, hi = cols * (w + 1) / ways;
        peak[w] = row_max(x + lo, hi - lo);
#pragma omp barrier
        float m = row_max(peak, ways), total = 0.0f;
        part[w] = row_exp(x + lo, y + lo, hi - lo, m);
        /* planted: no barrier here, so the sums of slower threads are still missing */
#pragma omp flush
        for (int i = 0; i < ways; ++i)
            total += part[i];
        for (int64_t c = lo; c < hi; ++c)
            y[c] /= total;
    }
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
    for (int64_t r = 0; r < rows; ++r) {
        if (cols >= 2048)
            split_softmax(x + r * cols, y + r * cols, cols);
        else
            row_softmax(x + r * cols, y + r * cols, cols);
    }
    return 0;
}
