// problem: layer_norm
// verdict: general
// construction: two passes in double, then the elements; rows over the cores

#include <math.h>
#include <stdint.h>

/* x, y are [rows, cols], gamma and beta [cols], mean and rstd [rows] */
int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        double sum = 0, squares = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += in[c];
        const double m = sum / (double)cols;
        for (int64_t c = 0; c < cols; c++)
            squares += (in[c] - m) * (in[c] - m);
        const double scale = 1 / sqrt(squares / (double)cols + (double)eps);
        mean[r] = (float)m;
        rstd[r] = (float)scale;
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)((in[c] - m) * scale * gamma[c] + beta[c]);
    }
    return 0;
}
