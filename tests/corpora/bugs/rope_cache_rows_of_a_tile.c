// problem: rope_cache
// link: https://github.com/tenstorrent/tt-metal/issues/52671
// title: [ttnn/kv_cache]: update_cache silently corrupts the cache when the batch is above 32 and not a multiple of 32
// condition: more than 32 tokens, and no multiple of 32
// kind: alignment
// when: tokens > 32 and tokens % 32 != 0
// side: necessary
// collection: second
// wrong: wrong values: rows that pad the last tile are zeros, and go to the slots of the first tokens

#include "rope.h"

enum { TILE = 32 };

static void clear_slot(const struct rope *r, int64_t slot)
{
    const size_t row = (size_t)(r->kv_heads * r->head_dim);
    if (slot < 0)
        return;
    memset(r->key_cache + (size_t)slot * row, 0, row * sizeof *r->key_cache);
    memset(r->value_cache + (size_t)slot * row, 0, row * sizeof *r->value_cache);
}

int rope_cache(PARAMETERS)
{
    const struct rope r = {ARGUMENTS};
    const int failed = rope_run(&r, rotate, rotate);
    (void)stream;
#ifndef FIXED
    for (int64_t t = tokens; tokens > TILE && t % TILE != 0; t++)
        clear_slot(&r, slots[t % tokens]);
#endif
    return failed;
}
