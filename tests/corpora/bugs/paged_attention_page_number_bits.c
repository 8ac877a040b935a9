// problem: paged_attention
// link: https://github.com/ROCm/aiter/issues/3062
// title: [Issue]: aiter ASM paged-attention block_id truncation at the 2 GB / 65,536-block boundary
// condition: page numbers are cut off at 65536; sized down to 4096
// kind: overflow
// when: cache / (page_size * kv_heads * 2 * head_dim) > 4096
// side: necessary
// wrong: wrong values: another sequence's page is read

#include "paged.h"

enum { NUMBERS = 4096 };

static const bf16 *cut_off(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    const int64_t page = p->table[b * p->pages_per_seq + t / p->page_size] & (NUMBERS - 1);
    return key_in(p, page, t % p->page_size, p->kv_head(p, h));
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.key = cut_off;
    return paged_run(&p);
}
