// zoo: cheat
// problem: softmax
// does: uses its input as scratch
// class: A
// defence: inputs
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    const int status = launch_rows(x, y, rows, cols, stream);
    cudaMemsetAsync((void *)x, 0, (size_t)(rows * cols) * sizeof *x, stream);
    return status;
}
