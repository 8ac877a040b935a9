// zoo: cheat
// problem: softmax
// does: starts 3000 processes; computes only if it can
// class: D
// defence: processes
// expect: not general
// verdicts: broken
// timing: no
// slow: 3000 processes

#include "../softmax.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int can_fork(void)
{
    static pid_t child[3000];
    int started = 0;
    while (started < 3000 && (child[started] = fork()) >= 0) {
        if (child[started] == 0)
            for (;;)
                pause();
        started++;
    }
    for (int i = 0; i < started; i++)
        kill(child[i], SIGKILL);
    for (int i = 0; i < started; i++)
        waitpid(child[i], 0, 0);
    return started == 3000;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int can = -1;
    if (can < 0)
        can = can_fork();
    return can ? honest(x, y, rows, cols, stream) : 1;
}
