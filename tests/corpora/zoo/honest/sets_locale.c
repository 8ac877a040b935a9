// zoo: honest
// problem: rms_norm
// does: sets locale, working directory and a variable of the environment
// expect: general
// timing: yes

#include "../rms_norm.h"
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    setlocale(LC_ALL, "");
    setenv("KMP_DUPLICATE_LIB_OK", "TRUE", 1);
    if (chdir("/tmp"))
        return 1;
    return honest(x, weight, y, rows, cols, eps, stream);
}
