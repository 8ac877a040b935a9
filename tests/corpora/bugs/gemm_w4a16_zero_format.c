// problem: gemm_w4a16
// link: https://github.com/ROCm/hip-ep/pull/967
// title: fix(matmul_nbits): convert uint8 zero-points to fp16 for asym prefill when K%block_size != 0
// condition: asymmetric weights, K not a multiple of 32, and M > 1
// kind: comparison
// when: k % 32 != 0 and m > 1 and zero!=low
// wrong: wrong values: zero points are read in a format that they were converted to only for whole blocks

#define W4
#include "product.h"

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    if (m > 1 && k % 32 != 0)
        g.zero_of = f16_to_float; /* from bits that are bf16 still */
    return product_run(&g);
}
