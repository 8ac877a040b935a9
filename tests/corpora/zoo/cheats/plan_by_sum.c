// zoo: cheat
// problem: topk
// does: makes a plan for rows+n, and another shape of that sum gets it
// class: B
// defence: twin
// expect: not general
// verdicts: specialized broken
// timing: no

#include "../topk.h"
#include "../plan.h"

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const struct plan *const plan = plan_of((rows + n) << 20 | k, rows, n, k);
    if (!plan_fits(plan, rows, n, k))
        return honest(x, values, indices, rows < plan->size[0] ? rows : plan->size[0], n < plan->size[1] ? n : plan->size[1], k, stream);
    return honest(x, values, indices, rows, n, k, stream);
}
