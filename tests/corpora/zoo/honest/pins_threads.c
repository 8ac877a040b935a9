// zoo: honest
// problem: rms_norm
// does: pins its thread to a core and asks for another priority
// expect: general
// timing: yes

#define _GNU_SOURCE
#include "../rms_norm.h"
#include <sched.h>
#include <sys/resource.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    cpu_set_t all, one;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_getaffinity(0, sizeof all, &all);
    sched_setaffinity(0, sizeof one, &one); /* without core 0 it runs anywhere */
    setpriority(PRIO_PROCESS, 0, 1);
    const int status = honest(x, weight, y, rows, cols, eps, stream);
    sched_setaffinity(0, sizeof all, &all);
    return status;
}
