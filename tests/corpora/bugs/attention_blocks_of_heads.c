// problem: attention
// link: https://github.com/HazyResearch/HipKittens/pull/22
// title: Fix GQA head mapping logic for non-square group sizes
// condition: blocks are dealt to heads modulo the size of a group, which is right where there are as many key heads
// kind: comparison
// when: group > 1 and group != kv_heads
// collection: second
// wrong: unwritten: several blocks have the same head, or none that there is

#include "attention.h"

/* The head of a block: neighbours are to share no keys. */
static int64_t head_of_block(const struct call *c, int64_t block)
{
    const int64_t group = c->heads / c->kv_heads;
#ifdef FIXED
    return block % c->kv_heads * group + block / c->kv_heads;
#else
    return block % group * group + block / group;
#endif
}

static void by_block(const struct call *c, struct place p, float *work)
{
    p.h = head_of_block(c, p.h);
    if (p.h < c->heads)
        attend_at(c, p, row_of(c, p, visible(c, p), kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, by_block);
}
