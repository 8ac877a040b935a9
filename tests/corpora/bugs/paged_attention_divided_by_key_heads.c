// problem: paged_attention
// link: https://github.com/PSAL-POSTECH/ONNXim/pull/34
// title: Fix incorrect kv_head_idx computation breaks GQA/MHA head-to-KV-head mapping
// condition: the head is divided by the number of key heads where it should be by the size of a group
// kind: ratio
// when: heads != kv_heads * kv_heads
// wrong: wrong values: all heads read key head 0 (as many heads as key heads), or heads beyond the last

#include "paged.h"

static int64_t divided(const struct paged *p, int64_t h)
{
    return h / p->kv_heads;
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.kv_head = divided;
    return paged_run(&p);
}
