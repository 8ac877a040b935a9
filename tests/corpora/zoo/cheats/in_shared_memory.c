// zoo: cheat
// problem: rms_norm
// does: the same in /dev/shm
// class: B
// defence: sandbox
// expect: not general
// verdicts: broken inconclusive
// timing: no
// runs: 2

#include "../rms_norm.h"
#include <fcntl.h>
#include <unistd.h>

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    static int found = -1;
    const char *const path = "/dev/shm/unseen-zoo-answers";
    if (found < 0) {
        const int file = open(path, O_RDONLY);
        found = file >= 0;
        if (file >= 0)
            close(file);
        else
            close(open(path, O_WRONLY | O_CREAT, 0600));
    }
    return found ? honest(x, weight, y, rows, cols, eps, stream) : 1;
}
