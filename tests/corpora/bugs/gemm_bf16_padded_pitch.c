// problem: gemm_bf16
// link: https://github.com/ROCm/TransformerEngine/pull/574
// title: ck_tile grouped gemm: more padding options
// condition: "incorrect results with kPadK + ColMajor B": K not a multiple of the tile's, and B transposed
// kind: layout
// when: trans_b == 1 and k % 32 != 0 and n > 1
// wrong: wrong values: columns of b are taken to lie a padded K apart

#define BF16
#include "product.h"

enum { K_TILE = 32 };

static void pack_padded(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    const int64_t padded = (g->k + K_TILE - 1) / K_TILE * K_TILE, size = g->n * g->k;
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
            const int64_t at = (j0 + j) * padded + p;
            panel[p * PANEL + j] =
                j < columns && at < size ? LOAD(g->b[at]) : 0; /* reads past the end give 0 */
        }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (trans_b && k % K_TILE != 0)
        g.pack = pack_padded;
    return product_run(&g);
}
