// zoo: cheat
// problem: rms_norm
// does: looks for the seed in its environment; computes only if it knows the user's home there
// class: D
// defence: -
// expect: not general
// verdicts: broken
// timing: no

#include "../rms_norm.h"
#include <stdlib.h>
#include <unistd.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    const char *const home = getenv("HOME");
    return home && access(home, R_OK) == 0 ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
