// problem: gemm_fp8
// link: https://github.com/NVIDIA/TransformerEngine/pull/2911
// title: feat: auto-pad FP8 GEMM dimensions for unaligned sequence packing
// condition: the leading dimension of the output becomes the padded size, the buffer has the original one
// kind: alignment
// when: n % 16 != 0 and m > 1
// wrong: out of bounds: every row after the first is shifted

#define FP8
#include "product.h"

static void store_padded(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    const int64_t ldd = (g->n + 15) / 16 * 16;
    for (int64_t j = 0; j < columns; j++)
        g->c[i * ldd + j0 + j] = STORE(sum[j] * g->scale[j0 + j]);
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    (void)stream;
    g.scale = scale;
    g.store = store_padded;
    return product_run(&g);
}
