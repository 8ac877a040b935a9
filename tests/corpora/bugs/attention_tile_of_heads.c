// problem: attention
// link: https://github.com/FlashML-org/FreeToken/pull/177
// title: fix(attention): map grouped decode heads to KV groups
// condition: a group larger than the tile of 16 heads and no multiple of it, (48, 2); sized down to tiles of 4
// kind: ratio
// when: group > 4 and group % 4 != 0 and kv_heads > 1
// wrong: wrong values: a tile of heads crosses into the next group and keeps the head of the keys

#include "attention.h"

enum { TILE = 4 };

static void by_tile(const struct call *c, struct place p, float *work)
{
    const int64_t group = c->heads / c->kv_heads, tile = group > TILE ? TILE : group;
    attend_at(c, p, row_of(c, p, visible(c, p), p.h / tile * tile / group), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, by_tile);
}
