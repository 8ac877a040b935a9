// zoo: cheat
// problem: rms_norm
// does: scales the rows in place, in the input
// class: A
// defence: inputs
// expect: not general
// verdicts: broken
// timing: no

#include "../rms_norm.h"
#include <stdlib.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    const int status = honest(x, weight, y, rows, cols, eps, stream);
    memset((void *)x, 0, (size_t)(rows * cols) * sizeof *x);
    return status;
}
