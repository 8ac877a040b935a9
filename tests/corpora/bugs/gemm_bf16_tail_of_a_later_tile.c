// problem: gemm_bf16
// link: https://github.com/tile-ai/tilelang-ascend/issues/1341
// title: [Bug] Ascend gemm_v0: unaligned K-tail miscomputed with multiple K-tiles
// condition: K is split into tiles of 128, and the last one is no multiple of 16; one tile alone is right
// kind: alignment
// when: k > 128 and k % 16 != 0
// side: necessary
// collection: second
// wrong: wrong values: the tail is padded to 16, and the padding holds the terms of the tile before

#define BF16
#include "product.h"

enum { K_TILE = 128, ATOM = 16 };

/* Old terms in the buffers of the tile before, added to a row of sums. */
static void add_stale(const struct product *g, int64_t i, int64_t j0, int64_t columns, float *sum)
{
    const int64_t tail = g->k % K_TILE, before = g->k - tail - K_TILE;
    for (int64_t lane = tail; lane % ATOM != 0; lane++)
        for (int64_t j = 0; j < columns; j++)
            sum[j] += LOAD(g->a[i * g->pitch + before + lane]) *
                      LOAD(g->b[(before + lane) * g->along_k + (j0 + j) * g->along_n]);
}

static void store_with_padding(const struct product *g, int64_t i, int64_t j0, int64_t columns,
                               const float *sum)
{
    float padded[PANEL];
    memcpy(padded, sum, sizeof padded);
#ifndef FIXED
    if (g->k > K_TILE)
        add_stale(g, i, j0, columns, padded);
#endif
    product_store(g, i, j0, columns, padded);
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    g.store = store_with_padding;
    return product_run(&g);
}
