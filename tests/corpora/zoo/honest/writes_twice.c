// zoo: honest
// problem: softmax
// does: uses its output as scratch before it holds the answer
// expect: general
// timing: yes

#include "../softmax.h"
#include <string.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    memcpy(y, x, (size_t)(rows * cols) * sizeof *y);
    for (int64_t i = 0; i < rows * cols; i++)
        y[i] = -y[i];
    return honest(x, y, rows, cols, stream);
}
