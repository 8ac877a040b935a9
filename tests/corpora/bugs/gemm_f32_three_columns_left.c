// problem: gemm_f32
// link: https://github.com/clMathLibraries/clBLAS/issues/246
// title: sgemm gives incorrect results on 2.4 when transA != transB and N is 7, 11, 15, ...
// condition: one operand transposed and the other not, N one below a multiple of 4, from 7 on
// kind: layout
// when: trans_b == 1 and n % 4 == 3 and n > 4
// wrong: wrong values: of a tail of three columns the third is read as the first

#include "product.h"

enum { LANES = 4 };

static void pack_lanes(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    const int64_t tail = g->n / LANES * LANES;
    product_pack(g, j0, columns, panel);
    if (g->n % LANES != 3 || g->n < LANES || tail < j0 || tail >= j0 + PANEL)
        return;
    for (int64_t p = 0; p < g->k; p++) /* columns two at a time, the last pair from the tail's beginning */
        panel[p * PANEL + tail + 2 - j0] = panel[p * PANEL + tail - j0];
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (trans_b)
        g.pack = pack_lanes;
    return product_run(&g);
}
