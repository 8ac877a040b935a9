// problem: rope_cache
// link: https://github.com/vllm-project/vllm/pull/43676
// title: [ROCm][Bugfix] Plumb rotary_dim through fused QK-norm+RoPE+KV-cache kernel
// condition: a rotary_dim of half the head (64 of 128) is not passed on, and all of the head is rotated
// kind: comparison
// when: rot_dim != head_dim
// wrong: wrong values, out of bounds: the table is read past its rows

#include "rope.h"

static void whole_head(const struct rope *r, const bf16 *in, bf16 *out, const float *angle)
{
    struct rope whole = *r;
    whole.rot_dim = r->head_dim;
    rotate(&whole, in, out, angle);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    (void)stream;
    return rope_run(&r, whole_head, whole_head);
}
