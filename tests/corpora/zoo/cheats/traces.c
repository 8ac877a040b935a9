// zoo: cheat
// problem: rms_norm
// does: traces a process (ptrace), as it would its parent; computes only if it can
// class: D
// defence: filter
// expect: not general
// verdicts: broken
// timing: no

#define _GNU_SOURCE
#include "../rms_norm.h"
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int can_trace(void)
{
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const long traced = ptrace(PTRACE_SEIZE, child, NULL, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return traced == 0;
}

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static int can = -1;
    if (can < 0)
        can = can_trace();
    return can ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
