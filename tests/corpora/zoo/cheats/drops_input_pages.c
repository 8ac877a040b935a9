// zoo: cheat
// problem: softmax
// does: gives the pages of its input back to the system after reading them (madvise)
// class: A
// defence: inputs
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../softmax.h"
#include <stdint.h>
#include <sys/mman.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const uintptr_t page = 4096, begin = ((uintptr_t)x + page - 1) & ~(page - 1);
    const uintptr_t end = (uintptr_t)(x + rows * cols) & ~(page - 1);
    const int status = honest(x, y, rows, cols, stream);
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_REMOVE);
    return status;
}
