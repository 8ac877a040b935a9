// problem: paged_attention
// link: https://github.com/flashinfer-ai/flashinfer/issues/996
// title: Support more group_size in Batch Decoding
// condition: "Unsupported group_size: 7"; the dispatch knows 1, 2, 3, 4 and 8
// kind: ratio
// when: heads > 4 * kv_heads and heads != 8 * kv_heads
// wrong: refused

#include "paged.h"

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    switch (heads / kv_heads) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 8: return paged_run(&p);
    default: return 1;
    }
}
