// problem: layer_norm
// link: https://github.com/microsoft/CNTK/issues/3816
// title: LayerNormlization layer has an edge case that causes NaN
// condition: epsilon is added to the square root where it belongs under it
// kind: content
// when: eps=large or eps=published and input=small or cols == 1
// side: necessary
// wrong: wrong values where epsilon is not small beside the variance

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
            sum += in[c];
        const double m = sum / (double)cols;
        for (int64_t c = 0; c < cols; c++)
            squares += (in[c] - m) * (in[c] - m);
        const double scale = 1 / (sqrt(squares / (double)cols) + (double)eps);
        mean[r] = (float)m;
        rstd[r] = (float)scale;
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)((in[c] - m) * scale * gamma[c] + beta[c]);
    }
    return 0;
}
