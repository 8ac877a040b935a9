// zoo: cheat
// problem: softmax
// does: holds 4 GiB for a moment; computes only if it gets them
// class: D
// defence: memory
// expect: not general
// verdicts: broken
// timing: no
// slow: 4 GiB are touched
// options: --memory 1G

#include "../softmax.h"
#include <sys/mman.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static int can = -1;
    if (can < 0) {
        const size_t bytes = (size_t)4 << 30;
        char *all = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        can = all != MAP_FAILED;
        for (size_t i = 0; can && i < bytes; i += 4096)
            all[i] = 1;
        if (can)
            munmap(all, bytes);
    }
    return can ? honest(x, y, rows, cols, stream) : 1;
}
