// zoo: cheat
// problem: softmax
// does: reads other processes' memory (process_vm_readv), here a child's; computes only if it can
// class: D
// defence: filter
// expect: not general
// verdicts: broken
// timing: no

#define _GNU_SOURCE
#include "../softmax.h"
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int can_read(void)
{
    static int secret = 42;
    int got = 0;
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    struct iovec mine = {&got, sizeof got}, theirs = {&secret, sizeof secret};
    const ssize_t bytes = process_vm_readv(child, &mine, 1, &theirs, 1, 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return bytes == (ssize_t)sizeof got && got == 42;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int can = -1;
    if (can < 0)
        can = can_read();
    return can ? honest(x, y, rows, cols, stream) : 1;
}
