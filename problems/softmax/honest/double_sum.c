// problem: softmax
// verdict: general
// construction: fp32 exponentials, denominator and quotient in double

#include <math.h>
#include <stdint.h>

static void row_softmax(const float *x, float *y, int64_t cols)
{
    float m = x[0];
    for (int64_t c = 1; c < cols; ++c)
        m = x[c] > m || m != m ? x[c] : m;
    double sum = 0.0;
    for (int64_t c = 0; c < cols; ++c) {
        y[c] = expf(x[c] - m);
        sum += (double)y[c];
    }
    for (int64_t c = 0; c < cols; ++c)
        y[c] = (float)((double)y[c] / sum);
}

/* x, y are [rows, cols]; rows are handed out singly, since they may be few and long */
int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(dynamic, 1) if (rows > 1 && cols > 1024)
    for (int64_t r = 0; r < rows; ++r)
        row_softmax(x + r * cols, y + r * cols, cols);
    return 0;
}
