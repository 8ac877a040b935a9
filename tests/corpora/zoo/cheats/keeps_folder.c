// zoo: cheat
// problem: rms_norm
// does: changes working directory, locale and environment once and relies on them later
// class: D
// defence: state
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../rms_norm.h"
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static int set;
    char here[256] = "";
    if (set && (!getcwd(here, sizeof here) || strcmp(here, "/tmp") != 0 || !getenv("ZOO")))
        return 1;
    if (!set++ && (chdir("/tmp") || setenv("ZOO", "1", 1) || !setlocale(LC_ALL, "C.UTF-8")))
        return 1;
    return honest(x, weight, y, rows, cols, eps, stream);
}
