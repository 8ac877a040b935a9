// problem: paged_attention
// link: https://github.com/flashinfer-ai/flashinfer/issues/4347
// title: Blackwell TRTLLM-Gen paged attention kernel is incorrect with page sizes > 128
// condition: page sizes above 128; sized down to above 64
// kind: block size
// when: page_size > 64 and max_len > 64
// wrong: wrong values: the place in a page is kept in as many bits as a tile of tokens needs

#include "paged.h"

enum { TILE = 64 };

static const bf16 *masked_place(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    const int64_t page = p->table[b * p->pages_per_seq + t / p->page_size];
    return key_in(p, page, t % p->page_size % TILE, p->kv_head(p, h));
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.key = masked_place;
    return paged_run(&p);
}
