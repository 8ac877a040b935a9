// zoo: honest
// problem: softmax
// does: sets rounding mode and FTZ for a part of its work and puts them back
// expect: general
// timing: yes

#include "../softmax.h"
#include <fenv.h>
#include <immintrin.h>

static volatile double most;

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const int mode = fegetround();
    const unsigned modes = _mm_getcsr();
    fesetround(FE_UPWARD);
    most = 1.0 / (double)(cols + 1);
    fesetround(mode);
    _mm_setcsr(modes | 0x8040);
    _mm_setcsr(modes);
    return honest(x, y, rows, cols, stream);
}
