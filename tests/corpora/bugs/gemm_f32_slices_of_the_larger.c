// problem: gemm_f32
// link: https://github.com/google-ai-edge/LiteRT/issues/6518
// title: OpenCL GPU delegate: BATCH_MATMUL with adj_y=True fails when M < N and N % 4 != 0
// condition: a transposed second operand with more rows than the first, and their number no multiple of 4
// kind: comparison
// when: trans_b == 1 and m < n and n % 4 != 0
// collection: fourth
// wrong: refused: unsupported weights shape

#include "product.h"

enum { OK = 0, INVALID_ARGUMENT = 3, SLICE = 4 };

/* The operand that is packed as weights: its rows, in slices, and the length of each. */
struct weights {
    int64_t rows, length, slices;
};

static int64_t slices_of(int64_t rows)
{
#ifdef FIXED
    return (rows + SLICE - 1) / SLICE;
#else
    return rows / SLICE;
#endif
}

/* The operand with more rows becomes weights; one that is not transposed goes to the general kernel. */
static int select_weights(const struct product *g, int64_t trans_b, struct weights *w)
{
    const bool second = trans_b && g->m < g->n;
    if (!second) {
        *w = (struct weights){0};
        return OK;
    }
    *w = (struct weights){g->n, g->k, slices_of(g->n)};
    return w->slices * SLICE < w->rows ? INVALID_ARGUMENT : OK;
}

/* Columns of c in slices, or all of them. */
static void store_slices(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    for (int64_t first = 0; first < columns; first += SLICE)
        for (int64_t j = first; j < first + SLICE && j < columns; j++)
            g->c[i * g->n + j0 + j] = sum[j];
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    struct weights w;
    (void)stream;
    const int status = select_weights(&g, trans_b, &w);
    if (status != OK)
        return status;
    if (w.slices)
        g.store = store_slices;
    return product_run(&g);
}
