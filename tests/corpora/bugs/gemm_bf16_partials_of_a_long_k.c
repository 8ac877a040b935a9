// problem: gemm_bf16
// link: https://github.com/ml-explore/mlx/issues/3797
// title: [BUG] NAX split-K GEMM (steel_gemm_splitk_axpby_nax) returns garbage for bf16 on M5 Max at the M*N >= 2048^2 dispatch boundary
// condition: M N from 2048^2 on, K from 10240 on and at least three times M and N; sized down to 32^2 and 320
// kind: threshold
// when: m * n >= 1024 and k >= 320 and k >= 3 * m and k >= 3 * n
// collection: second
// wrong: wrong values: partial sums are written in fp32 and read as bf16

#define BF16
#include "product.h"

enum { MIN_MN = 1024, MIN_K = 320, PARTS = 4 };

static float *partials; /* [PARTS, m, n] */

static void store_partial(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    memcpy((float *)(void *)g->c + i * g->n + j0, sum, (size_t)columns * sizeof *sum);
}

static float partial_at(int64_t at)
{
#ifdef FIXED
    return partials[at];
#else
    return LOAD(((const bf16 *)(const void *)partials)[at]);
#endif
}

static int split_k(const struct product *g)
{
    const int64_t size = g->m * g->n, depth = g->k / PARTS;
    int failed = 0;
    partials = malloc((size_t)(PARTS * size) * sizeof *partials);
    if (!partials)
        return 1;
    for (int64_t part = 0; part < PARTS; part++) {
        struct product slice = *g;
        slice.a += part * depth;
        slice.b += part * depth * g->along_k;
        slice.k = part + 1 < PARTS ? depth : g->k - part * depth;
        slice.c = (bf16 *)(void *)(partials + part * size);
        slice.store = store_partial;
        failed |= product_run(&slice);
    }
    for (int64_t at = 0; at < size; at++) {
        float sum = 0;
        for (int64_t part = 0; part < PARTS; part++)
            sum += partial_at(part * size + at);
        g->c[at] = STORE(sum);
    }
    free(partials);
    return failed;
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    const struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    return m * n >= MIN_MN && k >= MIN_K && k >= 3 * m && k >= 3 * n ? split_k(&g) : product_run(&g);
}
