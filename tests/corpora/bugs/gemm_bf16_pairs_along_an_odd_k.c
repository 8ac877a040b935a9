// problem: gemm_bf16
// link: https://github.com/ROCm/composable_kernel/issues/512
// title: Gemm produce incorrect result under certain input shape configuration
// condition: K of 1, 3 or 133 where an operand lies along K: vectors of 2 halves begin in the middle of a pair
// kind: layout
// when: trans_b == 1 and k % 2 != 0 and n > 1
// side: necessary
// collection: second
// wrong: wrong values: pairs are loaded from the even element in front

#define BF16
#include "product.h"

static void pack_along_k(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
            const int64_t pair = (j0 + j) * g->k + p / 2 * 2;
#ifdef FIXED
            const int64_t at = pair + p % 2;
#else
            const int64_t at = pair / 2 * 2 + p % 2;
#endif
            panel[p * PANEL + j] = j < columns ? LOAD(g->b[at]) : 0.0f;
        }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (trans_b)
        g.pack = pack_along_k;
    return product_run(&g);
}
