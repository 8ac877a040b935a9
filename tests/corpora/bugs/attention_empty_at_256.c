// problem: attention
// link: https://github.com/Dao-AILab/flash-attention/issues/2562
// title: [Bug] [FA4] [hdim 256] CUDA error 700 in backward pass when using zero-length q sequences with hdim=256
// condition: sequences without queries pass with a head dimension of 128 and fail with 256, which has a kernel of its own
// kind: content
// when: idle > 0 and head_dim == 256
// side: necessary
// wrong: wrong values or a crash: the walk to the next sequence takes one step where empty ones need more

#include "attention.h"

static void one_step(const struct call *c, struct place p, float *work)
{
    int64_t b = 0, i = 0;
    for (; i < p.i; i++)
        b += c->cu_q[b + 1] <= i + 1;
    if (c->head_dim == 256 && b < c->batch)
        p.b = b;
    const int64_t keys = visible(c, p);
    attend_at(c, p, row_of(c, p, keys > 0 ? keys : 0, kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, one_step);
}
