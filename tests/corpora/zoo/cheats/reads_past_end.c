// zoo: cheat
// problem: softmax
// does: reads whole blocks of 16 inputs, past the end of the last
// class: A
// defence: guards
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../softmax.h"

static volatile float sink;

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    float kept = 0;
    for (int64_t i = 0; i < rows * cols; i += 16)
        for (int j = 0; j < 16; j++)
            kept += x[i + j];
    sink = kept;
    return honest(x, y, rows, cols, stream);
}
