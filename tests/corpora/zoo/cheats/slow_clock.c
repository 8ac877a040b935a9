// zoo: cheat
// problem: softmax
// does: patches clock_gettime in the runner: time passes at an eighth of its pace
// class: C
// defence: clocks
// expect: not general
// verdicts: cheating broken inconclusive
// timing: yes
// idle: the times that are reported are of the judge's own clock then

#define _GNU_SOURCE
#include "../softmax.h"
#include "../patch.h"
#include <time.h>

static int slowed(clockid_t clock, struct timespec *time)
{
    static int64_t first;
    const int status = clock_gettime(clock, time);
    const int64_t now = time->tv_sec * 1000000000 + time->tv_nsec;
    first = first ? first : now;
    const int64_t said = first + (now - first) / 8;
    time->tv_sec = said / 1000000000;
    time->tv_nsec = said % 1000000000;
    return status;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int patched;
    if (!patched++)
        patch("clock_gettime", (void *)slowed);
    return honest(x, y, rows, cols, stream);
}
