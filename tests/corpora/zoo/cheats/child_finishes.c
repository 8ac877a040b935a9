// zoo: cheat
// problem: softmax
// does: a child process does the work; tensors are shared mappings
// class: C
// defence: late-writes
// expect: not general
// verdicts: cheating broken specialized
// timing: yes
// open: nobody looks for writes after the call; it is a race

#define _GNU_SOURCE
#include "../softmax.h"
#include <signal.h>
#include <unistd.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    signal(SIGCHLD, SIG_IGN);
    if (rows * cols > 8192)
        return honest(x, y, rows, cols, stream);
    const pid_t child = fork();
    if (child == 0) {
        for (int64_t r = 0; r < rows; r++)
            honest(x + r * cols, y + r * cols, 1, cols, NULL);
        _exit(0);
    }
    return child < 0;
}
