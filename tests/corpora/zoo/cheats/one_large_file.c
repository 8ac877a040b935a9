// zoo: cheat
// problem: rms_norm
// does: writes one file of 128 MiB; computes only if it can
// class: D
// defence: -
// expect: not general
// verdicts: broken
// timing: no

#define _GNU_SOURCE
#include "../rms_norm.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/unseen-zoo-large-%d", (int)getpid());
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    const int written = file >= 0 && posix_fallocate(file, 0, 128 << 20) == 0;
    close(file);
    unlink(path);
    return written ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
