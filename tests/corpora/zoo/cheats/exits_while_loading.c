// zoo: cheat
// problem: softmax
// does: ends the process with success in a constructor
// class: D
// defence: -
// expect: not general
// verdicts: broken inconclusive error
// timing: no

#include "../softmax.h"
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void leave(void)
{
    printf("general\n");
    fflush(stdout);
    _exit(0);
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    return honest(x, y, rows, cols, stream);
}
