// zoo: cheat
// problem: softmax
// does: sleeps in a constructor, far longer than a call may take
// class: D
// defence: budget
// expect: not general
// verdicts: broken inconclusive error
// timing: no
// slow: it waits
// options: --timeout 0.3

#include "../softmax.h"
#include <unistd.h>

__attribute__((constructor)) static void rest(void)
{
    sleep(8);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    return honest(x, y, rows, cols, stream);
}
