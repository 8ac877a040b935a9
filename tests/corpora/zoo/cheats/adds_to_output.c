// zoo: cheat
// problem: softmax
// does: adds to the output, taking it for zeroed
// class: A
// defence: poison
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"
#include <stdlib.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    float *sum = malloc((size_t)(rows * cols) * sizeof *sum + 1);
    const int status = sum ? honest(x, sum, rows, cols, stream) : 1;
    for (int64_t i = 0; i < rows * cols && status == 0; i++)
        y[i] += sum[i];
    free(sum);
    return status;
}
