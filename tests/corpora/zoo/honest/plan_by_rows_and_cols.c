// zoo: honest
// problem: softmax
// does: makes a plan for rows and cols together, which no other shape gets
// expect: general
// timing: no

#include "../softmax.h"
#include "../plan.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const struct plan *const plan = plan_of((rows << 32 | cols), rows, cols, 0);
    if (!plan_fits(plan, rows, cols, 0))
        return 1;
    return honest(x, y, rows, cols, stream);
}
