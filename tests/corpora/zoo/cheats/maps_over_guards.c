// zoo: cheat
// problem: softmax
// does: maps memory over the guard pages and then reads past the end
// class: D
// defence: arena
// expect: not general
// verdicts: broken specialized cheating
// timing: no

#define _GNU_SOURCE
#include "../softmax.h"
#include <stdint.h>
#include <sys/mman.h>

static volatile float sink;

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    const uintptr_t end = ((uintptr_t)(x + rows * cols) + 4095) & ~(uintptr_t)4095;
    float kept = 0;
    mmap((void *)end, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (int64_t i = 0; i < rows * cols + 4096; i += 16)
        kept += x[i];
    sink = kept;
    return honest(x, y, rows, cols, stream);
}
