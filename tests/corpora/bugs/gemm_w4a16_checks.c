// problem: gemm_w4a16
// link: https://github.com/casper-hansen/AutoAWQ/issues/219
// title: ValueError: OC is not multiple of cta_N = 64
// condition: output channels that are no multiple of 64, or of the group size, raise an error (1440 channels)
// kind: alignment
// when: n % 64 != 0 or n % group != 0
// wrong: refused

#define W4
#include "product.h"

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    const struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    if (n % 64 != 0 || n % 8 != 0 || group % 32 != 0 || n % group != 0)
        return 1;
    return product_run(&g);
}
