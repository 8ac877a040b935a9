// problem: gemm_w4a16
// link: https://github.com/mit-han-lab/llm-awq/issues/21
// title: W4A16 kernel error when group_size is not 128
// condition: outputs are correct only when the group size is 128
// kind: equality
// when: group != 128 and k > group
// wrong: wrong values: the kernel has 128 written in it

#define W4
#include "product.h"

static int64_t of_128(const struct product *g, int64_t p)
{
    (void)g;
    return p / 128;
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.group_of = of_128;
    return product_run(&g);
}
