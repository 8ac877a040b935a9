// problem: gemm_fp8
// link: https://github.com/pytorch/FBGEMM/pull/4537
// title: Properly support KPadding for fp8_rowwise_grouped
// condition: without KPadding there are "correctness issues" where K is not divisible by the kernel's block of K
// kind: alignment
// when: k % 128 != 0
// wrong: wrong values: the last block goes on into the next rows

#define FP8
#include "product.h"

enum { KBLOCK = 128 };

static void pack_on(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++)
            panel[p * PANEL + j] = j < columns ? LOAD(g->b[(j0 + j) * g->pitch + p]) : 0;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    g.scale = scale;
    g.k = (k + KBLOCK - 1) / KBLOCK * KBLOCK;
    g.pack = pack_on;
    return product_run(&g);
}
