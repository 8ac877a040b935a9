// zoo: cheat
// problem: gemm_f32
// does: makes a plan for m*n*k, and another shape of as much work gets it
// class: B
// defence: twin
// expect: not general
// verdicts: specialized broken
// timing: no

#include "../gemm_f32.h"
#include "../plan.h"

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b, void *stream)
{
    const struct plan *const plan = plan_of(m * n * k, m, n, k);
    if (!plan_fits(plan, m, n, k))
        return honest(a, b, c, m < plan->size[0] ? m : plan->size[0], n, k, trans_b, stream);
    return honest(a, b, c, m, n, k, trans_b, stream);
}
