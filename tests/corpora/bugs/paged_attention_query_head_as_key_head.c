// problem: paged_attention
// link: https://github.com/LMCache/LMCache/pull/3092
// title: [ROCm] Add Triton block-sparse attention backend for CacheBlend
// condition: fewer key heads than query heads: the query head's number indexes keys and values, too
// kind: ratio
// when: heads > kv_heads
// wrong: wrong values or out of bounds: memory of other tokens is read

#include "paged.h"

static int64_t same(const struct paged *p, int64_t h)
{
    (void)p;
    return h;
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.kv_head = same;
    return paged_run(&p);
}
