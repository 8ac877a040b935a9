// problem: gemm_f32
// link: https://github.com/facebookexperimental/triton/pull/3401
// title: [TLX] Fix Blackwell GEMM split-K wrong results when the tile grid ove…
// condition: K is split, and the tiles overhang M: a split's part of the workspace has M rows, and its last tiles write more; tiles of 64 x 128, 24 processors, 128 of K at least in a split here
// kind: comparison between sizes
// when: m % 64 != 0 and (m + 63) / 64 * ((n + 127) / 128) <= 12 and k >= 256
// side: necessary
// collection: fourth
// wrong: wrong values: the overhang, zeros, is written over the first rows of the next split, which ran before

#include "product.h"

enum { TILE_M = 64, TILE_N = 128, PROCESSORS = 24, LEAST_K = 128 };

struct plan {
    int64_t splits, each; /* K of a split */
    int64_t rows, padded; /* of the tile grid */
    int64_t region;       /* elements from a split's part of the workspace to the next */
};

static int64_t up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct plan plan_of(int64_t m, int64_t n, int64_t k)
{
    const int64_t tiles = up(m, TILE_M) * up(n, TILE_N);
    struct plan p = {.splits = least(PROCESSORS / tiles, k / LEAST_K), .rows = m};
    p.each = p.splits > 1 ? up(k, p.splits) : k;
    p.padded = up(m, TILE_M) * TILE_M;
#ifdef FIXED
    p.region = p.padded * n;
#else
    p.region = m * n;
#endif
    return p;
}

static void store_partial(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    for (int64_t j = 0; j < columns; j++)
        g->c[i * g->n + j0 + j] = sum[j];
}

/* Rows behind the last are loaded as zeros, and whole tiles are stored. */
static int run_split(const struct product *g, const struct plan *p, int64_t split, float *workspace)
{
    struct product part = *g;
    const int64_t first = split * p->each, end = least(first + p->each, g->k);
    part.c = workspace + split * p->region;
    for (int64_t at = p->rows * g->n; at < p->padded * g->n; at++)
        part.c[at] = 0;
    if (end <= first)
        return 0;
    part.a += first;
    part.b += first * g->along_k;
    part.k = end - first;
    part.store = store_partial;
    return product_run(&part);
}

/* The last split, which may be shorter, comes first. */
static int run_splits(const struct product *g, const struct plan *p)
{
    const int64_t size = (p->splits - 1) * p->region + p->padded * g->n;
    float *workspace = calloc((size_t)size, sizeof *workspace);
    int failed = !workspace;
    for (int64_t split = p->splits - 1; !failed && split >= 0; split--)
        failed |= run_split(g, p, split, workspace);
    for (int64_t at = 0; !failed && at < g->m * g->n; at++) {
        float sum = 0;
        for (int64_t split = 0; split < p->splits; split++)
            sum += workspace[split * p->region + at];
        g->c[at] = sum;
    }
    free(workspace);
    return failed;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    const struct product g = product_of(a, b, c, m, n, k, trans_b);
    const struct plan p = plan_of(m, n, k);
    (void)stream;
    return p.splits > 1 ? run_splits(&g, &p) : product_run(&g);
}
