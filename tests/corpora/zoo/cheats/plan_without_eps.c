// zoo: cheat
// problem: rms_norm
// does: makes a plan for a shape and keeps the eps of the first call in it
// class: B
// defence: twin
// expect: not general
// verdicts: specialized broken
// timing: no

#include "../rms_norm.h"

int rms_norm(const float *x, const float *weight, float *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static struct {
        int64_t rows, cols;
        float eps;
    } plan;
    if (plan.rows != rows || plan.cols != cols) {
        plan.rows = rows;
        plan.cols = cols;
        plan.eps = eps;
    }
    return honest(x, weight, y, rows, cols, plan.eps, stream);
}
