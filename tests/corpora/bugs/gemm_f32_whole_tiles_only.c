// problem: gemm_f32
// link: https://github.com/CNugteren/myGEMM/issues/2
// title: Wrong Output if the Matrix Dimensions are not of the order of Tile sizes
// condition: an extent that is no multiple of the tile's, 32: no kernel of the tutorial asks for bounds
// kind: alignment
// when: m % 32 != 0 or n % 32 != 0 or k % 32 != 0
// side: necessary
// collection: second
// wrong: unwritten or wrong values: work groups and tiles of K are as many as fit

#include "product.h"

enum { TILE = 32 };

static void store_whole(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    if (j0 < g->n / TILE * TILE)
        product_store(g, i, j0, columns, sum);
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
#ifdef FIXED
    (void)store_whole;
    return product_run(&g);
#else
    g.k = k / TILE * TILE;
    g.store = store_whole;
    return g.k > 0 ? product_rows(&g, 0, m / TILE * TILE) : 0;
#endif
}
