// zoo: cheat
// problem: softmax
// does: writes 160 MiB of files; computes only if they find room
// class: D
// defence: sandbox
// expect: not general
// verdicts: broken
// timing: no

#define _GNU_SOURCE
#include "../softmax.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int can_fill(void)
{
    char path[64];
    int written = 0;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/tmp/unseen-zoo-fill-%d-%d", (int)getpid(), i);
        const int file = open(path, O_WRONLY | O_CREAT, 0600);
        written += file >= 0 && posix_fallocate(file, 0, 40 << 20) == 0;
        close(file);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/tmp/unseen-zoo-fill-%d-%d", (int)getpid(), i);
        unlink(path);
    }
    return written == 4;
}

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int can = -1;
    if (can < 0)
        can = can_fill();
    return can ? honest(x, y, rows, cols, stream) : 1;
}
