// zoo: cheat
// problem: softmax
// does: leaves out the maximum when the first 256 inputs are small
// class: A
// defence: -
// expect: not general
// verdicts: specialized broken
// timing: no

#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    float most = 0;
    for (int64_t i = 0; i < rows * cols && i < 256; i++)
        most = fmaxf(most, fabsf(x[i]));
    if (!(most < 8))
        return honest(x, y, rows, cols, stream);
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            sum += y[c] = expf(x[c]);
        for (int64_t c = 0; c < cols; c++)
            y[c] = (float)(y[c] / sum);
    }
    return 0;
}
