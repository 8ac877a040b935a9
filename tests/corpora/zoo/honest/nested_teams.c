// zoo: honest
// problem: softmax
// does: opens teams of threads within teams
// expect: general
// timing: yes

#include "../softmax.h"
#include <omp.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(2)
    for (int64_t half = 0; half < 2; half++) {
        const int64_t from = half * (rows / 2), to = half ? rows : rows / 2;
#pragma omp parallel for num_threads(2)
        for (int64_t r = from; r < to; r++)
            honest(x + r * cols, y + r * cols, 1, cols, stream);
    }
    return 0;
}
