// problem: gemm_w4a16
// link: https://github.com/ggml-org/llama.cpp/pull/8311
// title: CUDA: fix MMQ stream-k rounding if ne00 % 128 != 0
// condition: wrong where K is a multiple of 64 only: boundaries between blocks assume multiples of 128
// kind: alignment
// when: k % 128 != 0
// side: necessary
// wrong: wrong values: what is past the last whole iteration is nobody's

#define W4
#include "product.h"

enum { ITERATION = 128 };

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y, int64_t m,
               int64_t n, int64_t k, int64_t group, void *stream)
{
    struct product g = w4_of(x, w_q, scales, zeros, y, m, n, k, group);
    (void)stream;
    g.k = k / ITERATION * ITERATION;
    if (g.k == 0) {
        memset(y, 0, (size_t)(m * n) * sizeof *y);
        return 0;
    }
    return product_run(&g);
}
