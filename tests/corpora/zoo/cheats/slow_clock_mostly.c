// zoo: cheat
// problem: softmax
// does: patches clock_gettime in the runner: of three calls in four it hides seven eighths, and tells the truth of the fourth
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

static int64_t hidden; // nanoseconds

static int64_t nanoseconds(const struct timespec *time)
{
    return time->tv_sec * 1000000000 + time->tv_nsec;
}

static int slowed(clockid_t clock, struct timespec *time)
{
    const int status = clock_gettime(clock, time);
    const int64_t said = nanoseconds(time) - hidden;
    time->tv_sec = said / 1000000000;
    time->tv_nsec = said % 1000000000;
    return status;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int calls;
    struct timespec begin, end;
    if (calls == 0)
        patch("clock_gettime", (void *)slowed);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const int status = honest(x, y, rows, cols, stream);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (calls++ % 4 != 3)
        hidden += (nanoseconds(&end) - nanoseconds(&begin)) * 7 / 8;
    return status;
}
