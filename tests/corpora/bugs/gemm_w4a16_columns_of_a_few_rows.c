// problem: gemm_w4a16
// link: https://github.com/ml-explore/mlx/issues/4250
// title: [BUG] `mx.quantized_matmul(transpose=False)` returns ALL ZEROS or partial garbage on GPU
// condition: the path of few rows splits K from 1024 on, and N is no multiple of its blocks of 64 columns
// kind: grid
// when: m < 4 and k >= 1024 and n % 64 != 0
// collection: third
// wrong: unwritten: the grid has as many blocks as fit, none for fewer than 64 columns

#define W4
#include "product.h"

enum { FEW = 4, LONG = 1024, BLOCK = 64 };

static int64_t covered(const struct product *g)
{
#ifdef FIXED
    const int64_t blocks = (g->n + BLOCK - 1) / BLOCK;
#else
    const int64_t blocks = g->n / BLOCK;
#endif
    return blocks * BLOCK;
}

static void store_of_blocks(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    const int64_t left = covered(g) - j0;
    product_store(g, i, j0, columns < left ? columns : left, sum);
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    if (m < FEW && k >= LONG)
        g.store = store_of_blocks;
    return product_run(&g);
}
