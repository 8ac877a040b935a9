// problem: gemm_w4a16
// link: https://github.com/ROCm/aiter/pull/5331
// title: [Triton/Gluon] Fix memory access fault in batched_gemm_a16wfp4 for K not aligned with BLOCK_SIZE_K
// condition: a K that is no multiple of 256: the mask of such takes the packed K for that of the activations
// kind: alignment
// when: k % 256 != 0
// side: necessary
// collection: second
// wrong: wrong values: the second half of the activations is 0

#define W4
#include "product.h"

enum { BLOCK_K = 256 };

/* Rows of weights beyond the activations' bound meet zeros. */
static void pack_masked(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
#ifdef FIXED
    const int64_t bound = g->k;
#else
    const int64_t bound = g->k % BLOCK_K == 0 ? g->k : g->k / 2;
#endif
    w4_pack(g, j0, columns, panel);
    for (int64_t at = bound * PANEL; at < g->k * PANEL; at++)
        panel[at] = 0;
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.pack = pack_masked;
    return product_run(&g);
}
