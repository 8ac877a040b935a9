// problem: attention
// link: https://github.com/pytorch/pytorch/issues/151359
// title: FlexDecode not guarding on GQA groups correctly
// condition: 12 query heads on 2: "Number of shared query heads sharing the same KV head must be power of 2"
// kind: power of two
// when: group != 1 and group != 2 and group != 4 and group != 8 and group != 16
// wrong: refused

#include "attention.h"

int attention(PARAMETERS)
{
    const int64_t shared = heads / kv_heads;
    if ((shared & (shared - 1)) != 0)
        return 1;
    return honest_attention(ARGUMENTS, stream);
}
