// problem: gemm_bf16
// link: https://github.com/OpenMathLib/OpenBLAS/pull/3273
// title: Power10: Fix for SBGEMM
// condition: failures for odd sizes, "due to updating result for additional bytes"
// kind: alignment
// when: n % 2 != 0
// wrong: out of bounds: pairs of columns are stored as one word, the last with a neighbour's place

#define BF16
#include "product.h"

static void store_pairs(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    for (int64_t j = 0; j < columns; j += 2) {
        const bf16 pair[2] = {STORE(sum[j]), STORE(sum[j + 1])};
        memcpy(g->c + i * g->n + j0 + j, pair, sizeof pair);
    }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    g.store = store_pairs;
    return product_run(&g);
}
