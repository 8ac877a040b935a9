// problem: rope_cache
// link: https://github.com/pie-project/pie/pull/603
// title: rope_partial: rotate over the rotary width, not the head width (Metal + CUDA)
// condition: pairs are (i, i + head_dim/2) where they are to be (i, i + rotary_dim/2)
// kind: comparison
// when: style=halves and rot_dim != head_dim
// wrong: wrong values

#include "rope.h"

static void across(const struct rope *r, const bf16 *in, bf16 *out, const float *angle)
{
    const int64_t half = r->rot_dim / 2;
    for (int64_t i = 0; i < half; i++)
        turn(in, out, i, i + r->head_dim / 2, angle[i], angle[half + i]);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    return rope_run(&r, neox ? across : rotate, neox ? across : rotate);
}
