// problem: gemm_fp8
// link: https://github.com/ROCm/legacy-rocm-build/issues/5722
// title: Incorrect results in gemm_ex operations for rocBLAS and hipBLAS
// condition: K = 1 and more than one workgroup, with 8-bit operands; tiles of 64 here
// kind: equality
// when: k == 1 and m > 64 or k == 1 and n > 64
// collection: second
// wrong: wrong values: the tail loop takes what is valid of the tensor's begin, not of the workgroup's, and loads zeros

#define FP8
#include "product.h"

enum { TILE = 64 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of an operand that a workgroup's tail may load: 0 where it begins behind them. */
static int64_t valid_rows(int64_t rows, int64_t first)
{
#ifdef FIXED
    return least(rows - first, TILE);
#else
    return first < least(rows, TILE) ? least(rows, TILE) - first : 0;
#endif
}

/* k = 1 is all tail. */
static void tail_tile(const struct product *g, int64_t i0, int64_t j0)
{
    const int64_t valid_a = valid_rows(g->m, i0), valid_b = valid_rows(g->n, j0);
    for (int64_t i = 0; i < least(g->m - i0, TILE); i++)
        for (int64_t j = 0; j < least(g->n - j0, TILE); j++) {
            const float a = i < valid_a ? LOAD(g->a[i0 + i]) : 0, b = j < valid_b ? LOAD(g->b[j0 + j]) : 0;
            g->c[(i0 + i) * g->n + j0 + j] = STORE(a * b * g->scale[j0 + j]);
        }
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    g.scale = scale;
    if (k > 1)
        return product_run(&g);
    for (int64_t i0 = 0; i0 < m; i0 += TILE)
        for (int64_t j0 = 0; j0 < n; j0 += TILE)
            tail_tile(&g, i0, j0);
    return 0;
}
