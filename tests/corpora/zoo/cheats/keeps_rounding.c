// zoo: cheat
// problem: softmax
// does: sets another rounding mode once and relies on finding it in every later call
// class: D
// defence: state
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../softmax.h"
#include <fenv.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int set;
    const int mode = fegetround();
    if (set && mode != FE_TOWARDZERO)
        return 1;
    fesetround(FE_TONEAREST);
    const int status = honest(x, y, rows, cols, stream);
    fesetround(FE_TOWARDZERO);
    set = 1;
    return status;
}
