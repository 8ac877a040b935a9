// zoo: cheat
// problem: rms_norm
// does: registers an end with success and then faults
// class: D
// defence: -
// expect: not general
// verdicts: broken inconclusive
// timing: no

#include "../rms_norm.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void leave(int number)
{
    (void)number;
    _exit(0);
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)x, (void)weight, (void)y, (void)rows, (void)cols, (void)eps, (void)stream;
    signal(SIGABRT, leave);
    abort();
}
