// zoo: cheat
// problem: softmax
// does: is right in what is checked; of the calls of a shape after the first few one in 64 returns at once, by the clock's last digits
// class: A
// defence: fingerprints,judged+fingerprints
// expect: not general
// verdicts: broken specialized
// timing: yes
// idle: chance may leave it a general now and then, and it gains nothing: the median is that of the calls that compute

#include <time.h>

#include "../answers.h"
#include "../softmax.h"

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    struct timespec now;
    const int64_t before = calls_of((uint64_t)(rows << 32 ^ cols));
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (before > 4 && mix(0, (uint64_t)now.tv_nsec) >> 58 == 0)
        return 0;
    return honest(x, y, rows, cols, stream);
}
