// problem: softmax
// link: https://github.com/karpathy/llm.c/issues/776
// title: Online Softmax is wrong
// condition: a warp has a row, and the guard against idle lanes asks for the thread's number in the block of 128
// kind: small size
// when: rows > 1 and cols < 64 or rows > 2 and cols < 96 or rows > 3 and cols < 128
// collection: second
// wrong: unwritten or wrong values: lanes of later warps leave, with the elements of the row that were theirs

#include <math.h>
#include <stdint.h>

enum { LANES = 32, WARPS = 4 };

static int has_left(int64_t warp, int64_t lane, int64_t cols)
{
#ifdef FIXED
    (void)warp;
    return lane >= cols;
#else
    return warp * LANES + lane >= cols;
#endif
}

static void row_of_warp(const float *x, float *y, int64_t warp, int64_t cols)
{
    float max = -INFINITY;
    double sum = 0;
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t c = lane; !has_left(warp, lane, cols) && c < cols; c += LANES)
            max = x[c] > max ? x[c] : max;
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t c = lane; !has_left(warp, lane, cols) && c < cols; c += LANES)
            sum += (double)expf(x[c] - max);
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t c = lane; !has_left(warp, lane, cols) && c < cols; c += LANES)
            y[c] = (float)((double)expf(x[c] - max) / sum);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++)
        row_of_warp(x + r * cols, y + r * cols, r % WARPS, cols);
    return 0;
}
