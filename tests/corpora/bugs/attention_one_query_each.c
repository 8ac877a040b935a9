// problem: attention
// link: https://github.com/Dao-AILab/flash-attention/issues/1537
// title: bug in flash_attn_varlen_func when max_seqlen == 1
// condition: the longest sequence has one query and some have none
// kind: small size
// when: queries + idle == batch and idle > 0
// wrong: refused: the queries are to be reshaped to one for each sequence

#include "attention.h"

int attention(PARAMETERS)
{
    const struct call c = {ARGUMENTS};
    int64_t longest = 0;
    for (int64_t b = 0; b < batch; b++)
        longest = queries_of(&c, b) > longest ? queries_of(&c, b) : longest;
    if (longest == 1 && total_q != batch)
        return 1;
    return honest_attention(ARGUMENTS, stream);
}
