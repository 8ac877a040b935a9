// zoo: cheat
// problem: softmax
// does: a call writes what the call before was asked for
// class: B,C
// defence: -
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"

static struct {
    const float *x;
    float *y;
    int64_t rows, cols;
} owed;

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    if (owed.x == x)
        honest(owed.x, owed.y, owed.rows, owed.cols, stream);
    owed.x = x;
    owed.y = y;
    owed.rows = rows;
    owed.cols = cols;
    return 0;
}
