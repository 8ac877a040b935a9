// problem: paged_attention
// link: https://github.com/Dao-AILab/flash-attention/pull/824
// title: Add support for small page sizes
// condition: "mha_fwd_kvcache will report an error when batch_size > 32": illegal memory access
// kind: threshold
// when: batch > 32
// side: necessary
// wrong: wrong values or a crash: a warp's 32 lanes hold the lengths, and the next sequences take theirs

#include "paged.h"

static int64_t of_lane(const struct paged *p, int64_t b)
{
    return p->lens[b % 32];
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.length = of_lane;
    return paged_run(&p);
}
