// zoo: cheat
// problem: rms_norm
// does: never returns
// class: D
// defence: -
// expect: not general
// verdicts: broken
// timing: no
// slow: it waits
// options: --timeout 0.3

#include <stdint.h>

int rms_norm(const void *x, const void *weight, void *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)x, (void)weight, (void)y, (void)rows, (void)cols, (void)eps, (void)stream;
    for (volatile int i = 0;; i++)
        ;
}
