// problem: layer_norm
// link: https://github.com/apache/mahout/issues/1107
// title: [Bug] Batch amplitude and norm kernels can issue misaligned vector loads for odd-length samples
// condition: an odd number of columns, and a row beyond the first: rows are read in pairs of floats
// kind: alignment
// when: rows > 1 and cols % 2 != 0 and cols > 1
// collection: second
// wrong: crash: misaligned address

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { MISALIGNED = 716 };

static bool is_of_pairs(const float *row, int64_t cols)
{
#ifdef FIXED
    return (uintptr_t)row % (2 * sizeof *row) == 0 && cols > 1;
#else
    (void)row;
    return cols > 1;
#endif
}

static int row_sum(const float *row, int64_t cols, double *sum)
{
    const int64_t pairs = is_of_pairs(row, cols) ? cols / 2 : 0;
    *sum = 0;
    for (int64_t p = 0; p < pairs; p++) {
        const float *pair = row + 2 * p;
        if ((uintptr_t)pair % (2 * sizeof *pair) != 0) /* a GPU's load of 8 bytes traps */
            return MISALIGNED;
        *sum += (double)pair[0] + (double)pair[1];
    }
    for (int64_t c = 2 * pairs; c < cols; c++)
        *sum += (double)row[c];
    return 0;
}

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    int failed = 0;
    (void)stream;
#pragma omp parallel for schedule(static) reduction(| : failed) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        double sum = 0, squares = 0;
        failed |= row_sum(in, cols, &sum);
        const double m = sum / (double)cols;
        for (int64_t c = 0; c < cols; c++)
            squares += ((double)in[c] - m) * ((double)in[c] - m);
        const double scale = 1 / sqrt(squares / (double)cols + (double)eps);
        mean[r] = (float)m;
        rstd[r] = (float)scale;
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = (float)(((double)in[c] - m) * scale * (double)gamma[c] + (double)beta[c]);
    }
    return failed;
}
