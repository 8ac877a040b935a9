// problem: attention
// link: https://github.com/apple/axlearn/pull/842
// title: Fix the changed GQA behavior by #837.
// condition: num_head=4, num_kv_head=2: key heads are tiled (0 1 0 1) where each is to be repeated (0 0 1 1)
// kind: ratio
// when: group > 1 and kv_heads > 1
// wrong: wrong values: query head h has key head h modulo their number

#include "attention.h"

static void tiled(const struct call *c, struct place p, float *work)
{
    attend_at(c, p, row_of(c, p, visible(c, p), p.h % c->kv_heads), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, tiled);
}
