// problem: attention
// link: https://github.com/pytorch/xla/pull/8671
// title: Fix a bug in flash attention where kv_seq_len should divide block_k_major.
// condition: the length that sequences are padded to is more than block_k_major and no multiple of it; 128 here instead of 512
// kind: alignment
// when: max_len > 128 and max_len % 128 != 0
// side: necessary
// collection: fourth
// wrong: wrong values: keys behind the last whole block take no part

#include "attention.h"

enum { DEFAULT_BLOCK_K_MAJOR = 128 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The length that all sequences are padded to, queries and keys. */
static int64_t padded_length(const struct call *c)
{
    int64_t longest = 0;
    for (int64_t b = 0; b < c->batch; b++) {
        longest = keys_of(c, b) > longest ? keys_of(c, b) : longest;
        longest = queries_of(c, b) > longest ? queries_of(c, b) : longest;
    }
    return longest;
}

/* Keys of a sequence that the grid's steps along kv_seq_len reach. */
static int64_t keys_of_the_grid(const struct call *c)
{
    const int64_t block_k_major = least(DEFAULT_BLOCK_K_MAJOR, padded_length(c));
    int64_t kv_seq_len = padded_length(c);
#ifdef FIXED
    kv_seq_len = (kv_seq_len + block_k_major - 1) / block_k_major * block_k_major;
#endif
    return kv_seq_len / block_k_major * block_k_major;
}

static void blocks_of_keys(const struct call *c, struct place p, float *work)
{
    attend_at(c, p, row_of(c, p, least(visible(c, p), keys_of_the_grid(c)), kv_head(c, p)), work);
}

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    (void)stream;
    return for_all_rows(&c, blocks_of_keys);
}
