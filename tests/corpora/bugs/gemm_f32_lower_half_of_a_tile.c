// problem: gemm_f32
// link: https://github.com/tracel-ai/cubek/pull/645
// title: fix(matmul): update cubecl to the Metal single-simdgroup miscompile fix
// condition: small odd inner dimensions, and an output width off the line size: m 382, n 10, k 1 or 3; m 4096, n 14, k 5
// kind: small size
// when: k % 2 != 0 and k < 8 and n % 4 != 0 and m > 4
// side: necessary
// collection: third
// wrong: wrong values: rows 4 to 7 of some 8 x 8 tiles are corrupt; here those of the last tile of columns repeat rows 0 to 3

#include "product.h"

enum { TILE = 8, LINE = 4, HALF = TILE / 2 };

/* A block of one simdgroup loads its stage in two halves where lines fit neither width nor depth. */
static int64_t first_corrupt_column(const struct product *g)
{
    const bool single = g->k < TILE && g->k % 2 != 0 && g->n % LINE != 0;
#ifdef FIXED
    (void)single;
    return g->n;
#else
    return single ? g->n / TILE * TILE : g->n;
#endif
}

static void store_of_halves(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    float out[PANEL];
    memcpy(out, sum, sizeof out);
    for (int64_t j = 0; i % TILE >= HALF && j < columns; j++) {
        if (j0 + j < first_corrupt_column(g))
            continue;
        out[j] = 0;
        for (int64_t p = 0; p < g->k; p++)
            out[j] += g->a[(i - HALF) * g->pitch + p] * g->b[p * g->along_k + (j0 + j) * g->along_n];
    }
    product_store(g, i, j0, columns, out);
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    g.store = store_of_halves;
    return product_run(&g);
}
