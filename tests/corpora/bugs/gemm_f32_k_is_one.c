// problem: gemm_f32
// link: https://github.com/triton-lang/triton/issues/934
// title: triton.ops.matmul does not work with K=1
// condition: with the inner dimension K equal to 1 the result is incorrect
// kind: equality
// when: k == 1
// wrong: wrong values: the least tile has 16 of k, and where k is known to be 1 its mask is folded away

#include "product.h"

enum { LEAST = 16 };

static void pack_least(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    struct product one = *g;
    one.k = 1;
    product_pack(&one, j0, columns, panel);
    for (int64_t p = 1; p < g->k; p++) /* the one element, broadcast to every lane */
        memcpy(panel + p * PANEL, panel, PANEL * sizeof *panel);
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (k > 1)
        return product_run(&g);
    float *wide = malloc((size_t)(m * LEAST) * sizeof *wide);
    if (!wide)
        return 1;
    for (int64_t i = 0; i < m * LEAST; i++)
        wide[i] = a[i / LEAST];
    g.a = wide;
    g.k = g.pitch = LEAST;
    g.pack = pack_least;
    const int failed = product_run(&g);
    free(wide);
    return failed;
}
