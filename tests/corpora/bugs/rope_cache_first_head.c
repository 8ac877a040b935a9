// problem: rope_cache
// link: https://github.com/paiml/aprender/pull/2079
// title: fix(cuda): RoPE NORM GPU kernel rotated only head 0
// condition: the kernel for adjacent pairs is launched on a flat grid, which makes all heads block 0
// kind: grid
// when: style=pairs and heads > 1
// wrong: wrong values: heads after the first are not rotated

#include "rope.h"

static void nothing(const struct rope *r, const bf16 *in, bf16 *out, const float *angle)
{
    (void)r;
    (void)in;
    (void)out;
    (void)angle;
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    if (neox)
        return rope_run(&r, rotate, rotate);
    for (int64_t t = 0; t < tokens; t++) { /* head = blockIdx.x, and there is one block */
        bf16 *q = query + t * heads * head_dim;
        rotate(&r, q, q, cos_sin + positions[t] * rot_dim);
    }
    return rope_run(&r, nothing, rotate);
}
