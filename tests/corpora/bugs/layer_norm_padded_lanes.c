// problem: layer_norm
// link: https://github.com/linkedin/Liger-Kernel/pull/519
// title: Fix mean subtraction in layer norm kernels
// condition: the hidden size is no power of two (1536), so that the mask has false elements
// kind: power of two
// when: cols != 1 and cols != 2 and cols != 4 and cols != 8 and cols != 16 and cols != 32 and cols != 64 and cols != 128 and cols != 256 and cols != 512 and cols != 1024 and cols != 2048 and cols != 4096 and cols != 8192 and cols != 16384 and cols != 32768 and cols != 65536 and cols != 131072 and cols != 262144
// side: necessary
// wrong: wrong values: (0 - mean)^2 of the lanes past the row is part of the variance

#include <math.h>
#include <stdint.h>

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    int64_t block = 1;
    (void)stream;
    while (block < cols)
        block *= 2;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        double sum = 0, squares = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += in[c];
        const double m = sum / (double)cols;
        for (int64_t c = 0; c < block; c++) {
            const double lane = (c < cols ? in[c] : 0) - m;
            squares += lane * lane;
        }
        const double scale = 1 / sqrt(squares / (double)cols + (double)eps);
        mean[r] = (float)m;
        rstd[r] = (float)scale;
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)((in[c] - m) * scale * gamma[c] + beta[c]);
    }
    return 0;
}
