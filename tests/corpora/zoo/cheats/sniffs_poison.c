// zoo: cheat
// problem: softmax
// does: computes only when the output holds poison, as it does in a check
// class: B
// defence: ring
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: the cue does not come, or so seldom that nothing is gained: contents and buffers change from call to call, outputs are poisoned

#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    for (int64_t i = 0; i < rows * cols; i += 1 + rows * cols / 32)
        if (!(y[i] >= 0 && y[i] <= 1))
            return honest(x, y, rows, cols, stream);
    return 0;
}
