// problem: gemm_bf16
// link: https://github.com/facebookexperimental/triton/pull/2767
// title: [triton][bitequiv] cuBLAS bug reproducer: split-K drops the K tail on GB200/GB300/H100, cuBLAS 12/13 (#2767)
// condition: K is split, as outputs are few and K is long, and K is no multiple of block_k: tiles of 64 x 64, block_k = 32, 16 processors, 8 blocks at least in a split here
// kind: alignment
// when: (m + 63) / 64 * ((n + 63) / 64) <= 8 and k >= 512 and k % 32 != 0
// side: necessary
// collection: fourth
// wrong: wrong values: the product of the first K - K % block_k alone

#define BF16
#include "product.h"

enum { TILE = 64, BLOCK_K = 32, PROCESSORS = 16, LEAST_BLOCKS = 8 };

/* The number of blocks of K that each split sums up, by a heuristic. */
struct plan {
    int64_t splits, blocks, each;
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
    const int64_t tiles = up(m, TILE) * up(n, TILE);
    struct plan p = {.blocks = k / BLOCK_K};
    p.splits = least(PROCESSORS / tiles, p.blocks / LEAST_BLOCKS);
#ifdef FIXED
    p.blocks = up(k, BLOCK_K);
#endif
    p.each = p.splits > 1 ? up(p.blocks, p.splits) : 0;
    return p;
}

/* Sums of a split to its part of the workspace, which c stands for meanwhile. */
static void store_partial(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    float *partial = (float *)(void *)g->c;
    for (int64_t j = 0; j < columns; j++)
        partial[i * g->n + j0 + j] = sum[j];
}

static int run_split(const struct product *g, const struct plan *p, int64_t split, float *workspace)
{
    struct product part = *g;
    const int64_t first = split * p->each * BLOCK_K;
    const int64_t end = least(least((split + 1) * p->each, p->blocks) * BLOCK_K, g->k);
    if (end <= first)
        return 0;
    part.a += first;
    part.b += first * g->along_k;
    part.k = end - first;
    part.c = (bf16 *)(void *)(workspace + split * g->m * g->n);
    part.store = store_partial;
    return product_run(&part);
}

static int run_splits(const struct product *g, const struct plan *p)
{
    const int64_t outputs = g->m * g->n;
    float *workspace = calloc((size_t)(p->splits * outputs), sizeof *workspace);
    int failed = !workspace;
    for (int64_t split = 0; !failed && split < p->splits; split++)
        failed |= run_split(g, p, split, workspace);
    for (int64_t at = 0; !failed && at < outputs; at++) {
        float sum = 0;
        for (int64_t split = 0; split < p->splits; split++)
            sum += workspace[split * outputs + at];
        g->c[at] = float_to_bf16(sum);
    }
    free(workspace);
    return failed;
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    const struct product g = product_of(a, b, c, m, n, k, trans_b);
    const struct plan p = plan_of(m, n, k);
    (void)stream;
    return p.splits > 1 ? run_splits(&g, &p) : product_run(&g);
}
