// problem: gemm_f32
// link: https://github.com/triton-lang/triton/issues/630
// title: Incorrect GEMM result when K is not multiple of 32
// condition: masked loads of the last tile along K, K not a multiple of 32, give wrong results
// kind: alignment
// when: k % 32 != 0
// side: necessary
// wrong: wrong values: lanes that a mask leaves out hold what they held before, and count

#include "product.h"

enum { TILE = 32 };

/* The panel in whole tiles of k. Lanes past k keep the previous tile's values, or in the first one whatever
 * was there. */
static void pack_tiles(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    const int64_t real = g->real_k;
    struct product whole = *g;
    whole.k = real;
    product_pack(&whole, j0, columns, panel);
    for (int64_t p = real; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++)
            panel[p * PANEL + j] = p >= TILE ? panel[(p - TILE) * PANEL + j] : 1.0f;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    const int64_t padded = (k + TILE - 1) / TILE * TILE;
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    float *wide = malloc((size_t)(m * padded) * sizeof *wide);
    (void)stream;
    if (!wide)
        return 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < padded; p++)
            wide[i * padded + p] = p < k ? a[i * k + p] : p >= TILE ? wide[i * padded + p - TILE] : 1.0f;
    g.a = wide;
    g.real_k = k;
    g.k = g.pitch = padded;
    g.pack = pack_tiles;
    const int failed = product_run(&g);
    free(wide);
    return failed;
}
