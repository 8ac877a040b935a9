// zoo: cheat
// problem: gemm_f32
// does: lets denormals be zero from its first call on, which the judge's own calls of the process then inherit
// class: D
// defence: state
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../gemm_f32.h"
#include <immintrin.h>

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    static int set;
    const unsigned modes = _mm_getcsr();
    if (set && !(modes & 0x8040))
        return 1;
    _mm_setcsr(modes & ~0x8040u);
    const int status = honest(a, b, c, m, n, k, trans_b, stream);
    _mm_setcsr(modes | 0x8040u);
    set = 1;
    return status;
}
