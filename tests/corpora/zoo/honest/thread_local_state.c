// zoo: honest
// problem: topk
// does: keeps buffers in thread-local storage
// expect: general
// timing: yes

#include "../topk.h"
#include <stdlib.h>

static _Thread_local float *kept;
static _Thread_local int64_t room;

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    int failed = 0;
#pragma omp parallel for reduction(| : failed)
    for (int64_t r = 0; r < rows; r++) {
        if (n > room) {
            kept = realloc(kept, (size_t)n * sizeof *kept);
            room = kept ? n : 0;
        }
        if (room < n) {
            failed = 1;
            continue;
        }
        memcpy(kept, x + r * n, (size_t)n * sizeof *kept);
        honest(kept, values + r * k, indices + r * k, 1, n, k, stream);
    }
    return failed;
}
