// zoo: cheat
// problem: softmax
// does: a timer signal does the work a moment after the call has returned
// class: C
// defence: state
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// idle: its timer runs out within the call, whose time then has the work, or is taken away when the call has returned

#include "../softmax.h"
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static struct {
    const float *x;
    float *y;
    int64_t rows, cols;
} job;

static void work(int number)
{
    (void)number;
    if (job.x)
        honest(job.x, job.y, job.rows, job.cols, NULL);
    job.x = NULL;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 1}};
    if (rows * cols > 4096)
        return honest(x, y, rows, cols, stream);
    work(0);
    job.x = x;
    job.y = y;
    job.rows = rows;
    job.cols = cols;
    signal(SIGALRM, work);
    return setitimer(ITIMER_REAL, &soon, NULL) ? 1 : 0;
}
