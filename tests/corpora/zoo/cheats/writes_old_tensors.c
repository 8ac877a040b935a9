// zoo: cheat
// problem: softmax
// does: writes to the tensors of an earlier configuration, wherever they were
// class: D
// defence: -
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static float *old;
    static int64_t old_cols;
    if (old && old_cols != cols)
        *old = 1;
    old = y;
    old_cols = cols;
    return honest(x, y, rows, cols, stream);
}
