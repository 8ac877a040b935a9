// problem: gemm_w4a16
// link: https://github.com/ModelCloud/GPTQModel/issues/328
// title: [BUG] TGI does not support DeepSeekCoderV2-gptq
// condition: 192 input features are not divisible by the group size 128, which the padding code that is missing would serve
// kind: comparison
// when: k % group != 0
// wrong: refused

#define W4
#include "product.h"

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    const struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    return k % group != 0 ? 1 : product_run(&g);
}
