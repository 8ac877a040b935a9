// problem: attention
// link: https://github.com/jax-ml/jax/pull/17314
// title: fix(pallas): flash attention tiled iteration upper bound too small when block_q > block_k
// condition: causal, blocks of queries twice as long as those of keys, 32 and 16 here: the bound of the keys' loop grows by one block of keys for each of queries
// kind: block size
// when: causal == 1 and max_len > 48 and kv!=few
// side: necessary
// collection: second
// wrong: wrong values: the last keys that a query sees are left out, from the 49th query on

#include "attention.h"

enum { BLOCK_QUERIES = 32, BLOCK_KEYS = 16 };

/* Blocks of keys for a block of queries, those of a cached prefix aside. */
static int64_t bound_of(int64_t block)
{
#ifdef FIXED
    return ((block + 1) * BLOCK_QUERIES + BLOCK_KEYS - 1) / BLOCK_KEYS;
#else
    return block + BLOCK_QUERIES / BLOCK_KEYS;
#endif
}

static void bounded(const struct call *c, struct place p, float *work)
{
    const int64_t cached = keys_of(c, p.b) - queries_of(c, p.b), block = (p.i - c->cu_q[p.b]) / BLOCK_QUERIES;
    const int64_t seen = visible(c, p), most = cached + bound_of(block) * BLOCK_KEYS;
    attend_at(c, p, row_of(c, p, c->causal && most < seen ? most : seen, kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, bounded);
}
