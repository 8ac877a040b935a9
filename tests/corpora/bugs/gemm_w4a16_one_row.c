// problem: gemm_w4a16
// link: https://github.com/intel/torch-xpu-ops/pull/5001
// title: [int4_mm] Fix _weight_int4pack_mm_xpu
// condition: wrong when M == 1 and the group is larger than 32; M > 1 and groups of 32 are unaffected
// kind: equality
// when: m == 1 and group > 32 and k > group
// wrong: wrong values: slice * (32 / group) is 0, so that all of k takes group 0's scale and zero

#define W4
#include "product.h"

enum { TILE_K = 32 };

static int64_t truncated(const struct product *g, int64_t p)
{
    const int64_t slice = p / TILE_K;
    return slice * (TILE_K / g->group);
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    if (m == 1)
        g.group_of = truncated;
    return product_run(&g);
}
