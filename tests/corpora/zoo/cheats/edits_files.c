// zoo: cheat
// problem: rms_norm
// does: writes to its own object; computes only if it can
// class: D
// defence: sandbox
// expect: not general
// verdicts: broken
// timing: no

#define _GNU_SOURCE
#include "../rms_norm.h"
#include <dlfcn.h>
#include <sys/stat.h>

static int can_write(void)
{
    Dl_info info;
    return dladdr((void *)can_write, &info) && chmod(info.dli_fname, 0777) == 0;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static int can = -1;
    if (can < 0)
        can = can_write();
    return can ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
