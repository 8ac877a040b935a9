// zoo: cheat
// problem: softmax
// does: writes 1/cols, which a loose tolerance takes for long rows
// class: A
// defence: -
// expect: not general
// verdicts: broken
// timing: no

#include <stdint.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)x;
    (void)stream;
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = 1.0f / (float)cols;
    return 0;
}
