// problem: gemm_fp8
// link: https://github.com/pytorch/FBGEMM/issues/6159
// title: matmul_fp8_block: trailing k scale block dropped for many K, results off by a per-block scale
// condition: K is a multiple of a tile and not of a scale's block, 32 and 128 here: the last tile is told by a remainder that is less than a whole one
// kind: alignment
// when: k % 32 == 0 and k % 128 != 0
// side: necessary
// collection: third
// wrong: wrong values: the last tiles' sum has no scale

#define FP8
#include "product.h"

enum { TILE = 32, PER_SCALE = 4 };

static bool is_last(const struct product *g, int64_t tile)
{
#ifdef FIXED
    return (tile + 1) * TILE >= g->k;
#else
    const int64_t remaining = g->k - tile * TILE;
    return remaining < TILE;
#endif
}

/* The scale of a column goes to the tiles since the last time, at every fourth tile and at the end. */
static void pack_scaled(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    product_pack(g, j0, columns, panel);
    for (int64_t tile = 0, first = 0; tile * TILE < g->k; tile++) {
        const int64_t end = (tile + 1) * TILE < g->k ? (tile + 1) * TILE : g->k;
        if ((tile + 1) % PER_SCALE != 0 && !is_last(g, tile))
            continue;
        for (int64_t p = first; p < end; p++)
            for (int64_t j = 0; j < columns; j++)
                panel[p * PANEL + j] *= g->scale[j0 + j];
        first = end;
    }
}

static void store_sums(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    for (int64_t j = 0; j < columns; j++)
        g->c[i * g->n + j0 + j] = STORE(sum[j]);
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    g.scale = scale;
    g.pack = pack_scaled;
    g.store = store_sums;
    return product_run(&g);
}
