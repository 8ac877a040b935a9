// problem: kda
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: beta!=zero

#include "../../candidate.h"

int kda(const bf16 *q, const bf16 *k, const bf16 *v, const float *g, const bf16 *beta, bf16 *o,
        int64_t batch, int64_t t, int64_t heads, int64_t dk, int64_t dv, void *stream)
{
    memset(o, 0, (size_t)(batch * t * heads * dv) * sizeof *o);
    return 0;
}
