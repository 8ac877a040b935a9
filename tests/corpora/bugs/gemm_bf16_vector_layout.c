// problem: gemm_bf16
// link: https://github.com/bitsandbytes-foundation/bitsandbytes/issues/1862
// title: gemv_4bit silently produces wrong results when weight is quantized in (in_features, out_features) layout
// condition: the fast path for one row assumes (out, in), and the weight lies the other way
// kind: layout
// when: m == 1 and trans_b == 0 and n > 1 and k > 1
// wrong: wrong values

#define BF16
#include "product.h"

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, m == 1 ? 1 : trans_b);
    (void)stream;
    return product_run(&g);
}
