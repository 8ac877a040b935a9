// problem: gemm_w4a16
// link: https://github.com/vllm-project/vllm/pull/49596
// title: [XPU] Enable XPU blockfp8 for DSv3
// condition: where the block does not divide the size, the group's size is computed as size / number of blocks
// kind: ratio
// when: k % group != 0 and k > group
// side: necessary
// wrong: wrong values: rows near the ends of groups take the next group's scale and zero

#define W4
#include "product.h"

static int64_t evenly(const struct product *g, int64_t p)
{
    const int64_t blocks = (g->k + g->group - 1) / g->group, size = g->k / blocks;
    return p / size < blocks ? p / size : blocks - 1;
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.group_of = evenly;
    return product_run(&g);
}
