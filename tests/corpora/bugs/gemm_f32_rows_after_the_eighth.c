// problem: gemm_f32
// link: https://github.com/giaf/blasfeo/issues/178
// title: gemm_nn fails for k > 8
// condition: neither operand transposed, K above 8, such as 1 x 1 x 9
// kind: threshold
// when: trans_b == 0 and k > 8
// side: necessary
// collection: second
// wrong: wrong values: the pointer to b does not move on after a block of 8 rows

#include "product.h"

enum { BLOCK = 8 };

static void pack_blocks(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++) {
#ifdef FIXED
            const int64_t row = p;
#else
            const int64_t row = p % BLOCK;
#endif
            panel[p * PANEL + j] = j < columns ? LOAD(g->b[row * g->along_k + (j0 + j) * g->along_n]) : 0.0f;
        }
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (!trans_b)
        g.pack = pack_blocks;
    return product_run(&g);
}
