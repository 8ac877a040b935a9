// problem: attention
// link: https://github.com/66RING/tiny-flash-attention/issues/12
// title: [BUG] Result error when seq length or hidden dim is not power of 2
// condition: sequence lengths that do not fill the tiles: the masks for it are missing
// kind: alignment
// when: causal == 0 and keys / batch % 64 != 0 or causal == 0 and batch > 1 and lengths!=equal
// side: necessary
// wrong: wrong values: keys that fill up a tile of 64 are zero, and their exponentials count

#include "attention.h"

enum { TILE = 64 };

static void filled(const struct call *c, struct place p, float *work)
{
    const int64_t at = p.i * c->heads + p.h, all = keys_of(c, p.b),
                  zero = (all + TILE - 1) / TILE * TILE - all;
    attend_at(c, p, row_of(c, p, visible(c, p), kv_head(c, p)), work);
    /* zero scores and values: the sum grows by one each, the rest stays */
    const float grown = logf(expf(c->lse[at]) + (float)(c->causal ? 0 : zero)),
                shrink = expf(c->lse[at] - grown);
    if (c->causal || zero == 0)
        return;
    for (int64_t i = 0; i < c->head_dim; i++)
        c->out[at * c->head_dim + i] = float_to_bf16(bf16_to_float(c->out[at * c->head_dim + i]) * shrink);
    c->lse[at] = grown;
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, filled);
}
