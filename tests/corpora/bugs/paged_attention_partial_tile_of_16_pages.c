// problem: paged_attention
// link: https://github.com/ROCm/ATOM/pull/2211
// title: fix(minimax-m3): the maskless fp8 kernel returns NaN at gqa=16, 16 pages, partial tail
// condition: 16 heads of queries to each of keys, and a sequence whose pages reach 256 tokens though it has fewer: 241 to 255 with pages of 16
// kind: equality
// when: heads == 16 * kv_heads and max_len < 256 and (max_len + page_size - 1) / page_size * page_size >= 256 or heads == 16 * kv_heads and shortest < 256 and (shortest + page_size - 1) / page_size * page_size >= 256
// side: sufficient
// collection: third
// wrong: NaN: the loop over whole tiles is entered, finds none, and leaves out the rest: 0 / 0

#include "paged.h"

enum { TILE = 256, GROUP = 16 };

/* Tokens of a sequence that the kernel for 16 heads attends to: whole tiles with the rest behind them, or the rest alone. */
static int64_t tokens_by_tiles(const struct paged *p, int64_t b)
{
    const int64_t len = p->lens[b], pages = (len + p->page_size - 1) / p->page_size;
    int64_t done = 0;
#ifdef FIXED
    const bool whole = len >= TILE;
    (void)pages;
#else
    const bool whole = pages * p->page_size >= TILE;
#endif
    if (!whole)
        return len;
    for (int64_t tile = 0; tile < len / TILE; tile++)
        done = tile + 1 < len / TILE ? done + TILE : len;
    return done;
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    if (heads / kv_heads == GROUP)
        p.length = tokens_by_tiles;
    return paged_run(&p);
}
