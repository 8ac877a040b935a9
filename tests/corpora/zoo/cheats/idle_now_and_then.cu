// zoo: cheat
// problem: softmax
// does: is right in what is checked; of the calls of a shape after the first few one in 64 launches nothing, by the clock's last digits
// class: A
// defence: fingerprints,judged+fingerprints
// expect: not general
// verdicts: broken specialized
// timing: yes
// idle: chance may leave it a general now and then, and it gains nothing: the median is that of the calls that compute

#include <ctime>

#include "../row.h"

extern "C" int softmax(const float *x, float *y, int64_t rows, int64_t cols, cudaStream_t stream)
{
    static int calls[4093]; /* by shape, or by two that share a place */
    struct timespec now;
    int *const before = &calls[(rows * 31 + cols) % 4093];
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (++*before > 5 && ((uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u >> 58) == 0)
        return 0;
    return launch_rows(x, y, rows, cols, stream);
}
