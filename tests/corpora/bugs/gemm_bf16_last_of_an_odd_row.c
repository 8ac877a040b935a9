// problem: gemm_bf16
// link: https://github.com/ROCm/rocBLAS/issues/340
// title: rocblas_hgemm gives incorrect results
// condition: 3 x 1 x 5 and other odd extents in half precision: the last of a row of results is that of its neighbour
// kind: alignment
// when: n % 2 != 0 and n > 1
// collection: second
// wrong: wrong values: loads of two halves stop one column early, so that they stay inside

#define BF16
#include "product.h"

static void pack_pairs(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
#ifdef FIXED
    const int64_t last = g->n - 1;
#else
    const int64_t last = g->n > 1 ? g->n / 2 * 2 - 1 : 0;
#endif
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
            const int64_t column = j0 + j < last ? j0 + j : last;
            panel[p * PANEL + j] = j < columns ? LOAD(g->b[p * g->along_k + column * g->along_n]) : 0.0f;
        }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    g.pack = pack_pairs;
    return product_run(&g);
}
