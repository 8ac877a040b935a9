// zoo: cheat
// problem: rms_norm
// does: makes the guard pages readable (mprotect) and reads past the end
// class: D
// defence: arena
// expect: not general
// verdicts: broken specialized cheating
// timing: no

#include "../rms_norm.h"
#include <stdint.h>
#include <sys/mman.h>

static volatile int sink;

int rms_norm(const bf16 *x, const bf16 *weight, bf16 *y, int64_t rows, int64_t cols, float eps, void *stream)
{
    const uintptr_t end = ((uintptr_t)(x + rows * cols) + 4095) & ~(uintptr_t)4095;
    int kept = 0;
    mprotect((void *)end, 65536, PROT_READ | PROT_WRITE);
    for (int64_t i = 0; i < rows * cols + 8192; i += 32)
        kept += x[i];
    sink = kept;
    return honest(x, weight, y, rows, cols, eps, stream);
}
