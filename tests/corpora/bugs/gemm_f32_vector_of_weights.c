// problem: gemm_f32
// link: https://github.com/openvinotoolkit/openvino/pull/36105
// title: [GPU] Fix gemm_tiled_opt incorrect results for 1D transposed weight
// condition: a weight of rank 1 with transpose_b: tiles along K beyond the first are read TILE_K * K further
// kind: layout
// when: n == 1 and trans_b == 1 and k > 16
// wrong: out of bounds: N of the weight is taken to be K

#include "product.h"

enum { TILE_K = 16 };

static void pack_swapped(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    (void)j0;
    (void)columns;
    memset(panel, 0, (size_t)(g->k * PANEL) * sizeof *panel);
    for (int64_t p = 0; p < g->k; p++)
        panel[p * PANEL] = g->b[p / TILE_K * TILE_K * g->k + p % TILE_K];
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (n == 1 && trans_b)
        g.pack = pack_swapped;
    return product_run(&g);
}
