// zoo: cheat
// problem: softmax
// does: makes a plan for the bytes of x, and rows of another length get it
// class: B
// defence: twin
// expect: not general
// verdicts: specialized broken
// timing: no

#include "../softmax.h"
#include "../plan.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const struct plan *const plan = plan_of(rows * cols * 4, rows, cols, 0);
    if (!plan_fits(plan, rows, cols, 0))
        return honest(x, y, plan->size[0], plan->size[1], stream);
    return honest(x, y, rows, cols, stream);
}
