// problem: rms_norm
// link: https://github.com/ml-explore/mlx/pull/3792
// title: Fix CUDA RMSNorm small-row dispatch
// condition: several rows share a block though each needs two groups of 32 threads: fp32 of 256 columns, 16-bit floats of 512
// kind: block size
// when: rows > 1 and cols > 256 and cols <= 512
// collection: third
// wrong: wrong values: the reduction is the whole block's, so a row gets the squares of its neighbour, too

#include "../../../problems/candidate.h"

enum { LANES = 32, READS = 8 };

/* Rows of a block: those of one group as many as fit into 128 threads, then two, then one. */
static int64_t rows_of_a_block(int64_t cols)
{
    const int64_t threads = (cols + READS - 1) / READS;
    if (threads <= LANES)
        return threads <= LANES / 4 ? 16 : threads <= LANES / 2 ? 8 : 4;
#ifdef FIXED
    return 1;
#else
    return threads <= 2 * LANES ? 2 : 1;
#endif
}

static double squares(const bf16 *x, int64_t cols)
{
    double sum = 0;
    for (int64_t c = 0; c < cols; c++)
        sum += (double)bf16_to_float(x[c]) * (double)bf16_to_float(x[c]);
    return sum;
}

/* Where a row has one group, the reduction is the group's. Otherwise it is the block's. */
static double reduced(const bf16 *x, int64_t rows, int64_t cols, int64_t r)
{
    const int64_t together = rows_of_a_block(cols), first = r / together * together;
    double sum = 0;
    if (cols <= LANES * READS)
        return squares(x + r * cols, cols);
    for (int64_t other = first; other < first + together && other < rows; other++)
        sum += squares(x + other * cols, cols);
    return sum;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float scale = (float)(1 / sqrt(reduced(x, rows, cols, r) / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] =
                float_to_bf16(bf16_to_float(x[r * cols + c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
