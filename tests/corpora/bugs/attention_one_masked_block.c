// problem: attention
// link: https://github.com/Dao-AILab/flash-attention/pull/436
// title: Support flash attention 2 with causal masking when KV's seq length is longer than Q's seq length
// condition: causal masking may be needed on two blocks when there are more keys than queries, and one was masked
// kind: block size
// when: causal == 1 and cached > 0 and max_len > 64
// side: necessary
// wrong: wrong values: a block of keys above the diagonal's last one is not masked

#include "attention.h"

enum { BLOCK_KEYS = 64 };

static void one_block(const struct call *c, struct place p, float *work)
{
    const int64_t all = keys_of(c, p.b), queries = queries_of(c, p.b),
                  block = (p.i - c->cu_q[p.b]) / BLOCK_KEYS;
    const int64_t last = (block + 1) * BLOCK_KEYS < queries ? (block + 1) * BLOCK_KEYS : queries;
    const int64_t end = all - (c->causal ? queries - last : 0); /* keys that the block of queries sees */
    const int64_t masked =
        (end - 1) / BLOCK_KEYS * BLOCK_KEYS; /* where the one block begins that is masked */
    int64_t keys = visible(c, p);
    if (c->causal && keys < masked)
        keys = masked;
    attend_at(c, p, row_of(c, p, keys, kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, one_block);
}
