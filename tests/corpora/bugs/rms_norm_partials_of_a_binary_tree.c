// problem: rms_norm
// link: https://github.com/PTO-ISA/SuperNPUBench/pull/133
// title: fix(normalization): pad rms_norm_binary block count to next power of two
// condition: a row's blocks are no power of two: the slot that is read holds the last of them alone; blocks of 256, not 1024
// kind: power of two
// when: not pow2((cols + 255) / 256)
// side: necessary
// collection: second
// wrong: wrong values: partial sums of the first blocks stay in other slots

#include "../../../problems/candidate.h"

enum { BLOCK = 256, SLOTS = 32 };

/* Partial sums meet as in a binary counter: slot i holds a sum of 2^i blocks. */
static void add_partial(double *slot, int64_t block, double sum)
{
    int level = 0;
    for (int64_t carry = block; carry % 2 != 0; carry /= 2, level++) {
        sum += slot[level];
        slot[level] = 0;
    }
    slot[level] = sum;
}

static double sum_of_squares(const bf16 *x, int64_t cols)
{
    int64_t blocks = (cols + BLOCK - 1) / BLOCK;
    double slot[SLOTS] = {0};
    int level = 0;
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t c = b * BLOCK; c < cols && c < (b + 1) * BLOCK; c++)
            sum += (double)bf16_to_float(x[c]) * (double)bf16_to_float(x[c]);
        add_partial(slot, b, sum);
    }
#ifdef FIXED
    for (; (blocks & (blocks - 1)) != 0; blocks++)
        add_partial(slot, blocks, 0);
#endif
    while (blocks % 2 == 0) {
        blocks /= 2;
        level++;
    }
    return slot[level];
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const bf16 *in = x + r * cols;
        const float scale = (float)(1 / sqrt(sum_of_squares(in, cols) / (double)cols + (double)eps));
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = float_to_bf16(bf16_to_float(in[c]) * scale * bf16_to_float(weight[c]));
    }
    return 0;
}
