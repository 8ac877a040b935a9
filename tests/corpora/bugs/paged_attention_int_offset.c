// problem: paged_attention
// link: https://github.com/vllm-project/vllm/issues/50427
// title: [Bug]: FlexAttention paged K/V offsets overflow int32
// condition: caches of 2^31 elements and more (pages >= 2^31 / elements of a page); sized down to 2^20
// kind: overflow
// when: cache > 1048576 + 2 * kv_heads * head_dim
// side: necessary
// wrong: crash: offsets wrap to negative ones

#include "paged.h"

static const bf16 *wrapped(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    const int64_t at = honest_key(p, b, h, t) - p->cache;
    return p->cache + ((int64_t)((uint64_t)at << 43) >> 43); /* a signed integer of 21 bits */
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.key = wrapped;
    return paged_run(&p);
}
