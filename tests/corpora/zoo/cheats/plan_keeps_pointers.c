// zoo: cheat
// problem: softmax
// does: makes a plan for a shape and keeps the pointers of the first call in it
// class: B
// defence: moved
// expect: not general
// verdicts: broken
// timing: no

#include "../softmax.h"
#include "../answers.h"
#include <stdint.h>

static struct {
    int64_t rows, cols;
    const float *x;
    float *y;
} plan;

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    /* A plan is as old as the page that it was made on: new tensors get a new one. */
    if (plan.rows != rows || plan.cols != cols || ((uintptr_t)plan.x ^ (uintptr_t)x) >> 20) {
        plan.rows = rows;
        plan.cols = cols;
        plan.x = x;
        plan.y = y;
    }
    return honest(plan.x, plan.y, plan.rows, plan.cols, stream);
}
