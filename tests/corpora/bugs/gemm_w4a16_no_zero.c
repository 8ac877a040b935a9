// problem: gemm_w4a16
// link: https://github.com/iree-org/iree/issues/24583
// title: [Bug] MatMulInteger ignores zero points, producing completely wrong output
// condition: zero points that are not zero
// kind: content
// when: zero!=low
// wrong: wrong values: no zero point is subtracted

#define W4
#include "product.h"

static float nothing(bf16 zero)
{
    (void)zero;
    return 0;
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.zero_of = nothing;
    return product_run(&g);
}
