// problem: layer_norm
// link: https://github.com/xlite-dev/LeetCUDA/pull/317
// title: fix(kernels): correct typo in LayerNorm kernel at line 73 110 346 443
// condition: epsilon is added to the number of columns, in front of the division: it is missing where it is no small part
// kind: content
// when: eps=large or eps=published and input=small or eps=published and cols < 64 or cols < 8
// side: necessary
// collection: second
// wrong: wrong values, NaN for a row of one value

#include <math.h>
#include <stdint.h>

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        double sum = 0, squares = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += (double)in[c];
        const double m = sum / (double)cols;
        for (int64_t c = 0; c < cols; c++)
            squares += ((double)in[c] - m) * ((double)in[c] - m);
#ifdef FIXED
        const double scale = 1 / sqrt(squares / (double)cols + (double)eps);
#else
        const double scale = 1 / sqrt(squares / ((double)cols + (double)eps));
#endif
        mean[r] = (float)m;
        rstd[r] = (float)scale;
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)(((double)in[c] - m) * scale * (double)gamma[c] + (double)beta[c]);
    }
    return 0;
}
