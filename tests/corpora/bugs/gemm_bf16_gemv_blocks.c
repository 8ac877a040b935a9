// problem: gemm_bf16
// link: https://github.com/ggml-org/llama.cpp/pull/8800
// title: cuda : fix dmmv cols requirement to 2*GGML_CUDA_DMMV_X
// condition: the matrix-vector kernel was chosen for columns that are a multiple of 32, and needs one of 64
// kind: alignment
// when: m == 1 and k % 64 == 32
// wrong: wrong values: a half block at the end is not counted

#define BF16
#include "product.h"

enum { X = 32 };

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    (void)stream;
    if (m == 1 && k % X == 0) {
        if (k == X) {
            memset(c, 0, (size_t)n * sizeof *c);
            return 0;
        }
        g.k = k / (2 * X) * (2 * X);
    }
    return product_run(&g);
}
