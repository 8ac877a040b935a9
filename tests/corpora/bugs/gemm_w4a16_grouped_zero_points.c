// problem: gemm_w4a16
// link: https://github.com/uxlfoundation/oneDNN/issues/2884
// title: per_ocic policy zero-point error in int8 matmul on aarch64(Graviton 3)
// condition: grouped zero points are implemented where K is a multiple of 32 (32x20 passes, 33x20 does not)
// kind: alignment
// when: k % 32 != 0
// wrong: refused: unimplemented

#define W4
#include "product.h"

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    const struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    return k % 32 != 0 ? 1 : product_run(&g);
}
