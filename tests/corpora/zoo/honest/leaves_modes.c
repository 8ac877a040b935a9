// zoo: honest
// problem: rms_norm
// does: sets FTZ in its first call and leaves it so, needing it nowhere
// expect: general
// timing: yes

#include "../rms_norm.h"
#include <immintrin.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    const unsigned modes = _mm_getcsr();
    _mm_setcsr(modes & ~0x8040u);
    const int status = honest(x, weight, y, rows, cols, eps, stream);
    _mm_setcsr(modes | 0x8040);
    return status;
}
