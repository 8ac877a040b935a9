// problem: gemm_bf16
// link: https://github.com/mirage-project/mirage/issues/440
// title: [Bug] - Linear kernel does not work correctly when BATCH_SIZE > 1
// condition: with a batch above 1 only the first row of the result is correct
// kind: small size
// when: m > 1
// wrong: wrong values: the row of the input is not advanced

#define BF16
#include "product.h"

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    g.pitch = 0;
    return product_run(&g);
}
