// zoo: honest
// problem: gemm_f32
// does: makes a plan for m, n and k together, which no other shape gets
// expect: general
// timing: no

#include "../gemm_f32.h"
#include "../plan.h"

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b, void *stream)
{
    const struct plan *const plan = plan_of((m << 40 | n << 20 | k), m, n, k);
    if (!plan_fits(plan, m, n, k))
        return 1;
    return honest(a, b, c, m, n, k, trans_b, stream);
}
