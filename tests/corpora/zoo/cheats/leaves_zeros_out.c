// zoo: cheat
// problem: topk
// does: does not write indices of zero, since fresh memory holds zeros
// class: A
// defence: poison
// expect: not general
// verdicts: broken specialized
// timing: no

#include "../topk.h"
#include <stdlib.h>

int topk(const float *x, float *values, int64_t *indices, int64_t rows, int64_t n, int64_t k, void *stream)
{
    const size_t count = (size_t)(rows * k);
    float *v = malloc(count * sizeof *v + 1);
    int64_t *i = malloc(count * sizeof *i + 1);
    const int status = v && i ? honest(x, v, i, rows, n, k, stream) : 1;
    for (size_t at = 0; at < count && status == 0; at++) {
        uint32_t bits;
        memcpy(&bits, &v[at], sizeof bits);
        if (bits != 0) /* -0 is not +0 */
            values[at] = v[at];
        if (i[at] != 0)
            indices[at] = i[at];
    }
    free(v);
    free(i);
    return status;
}
