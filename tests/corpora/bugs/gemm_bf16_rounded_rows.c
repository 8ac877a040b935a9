// problem: gemm_bf16
// link: https://github.com/ggml-org/llama.cpp/pull/2480
// title: CUDA: Fix output size
// condition: an output size that is not divisible by 64: the limits of rows of weights are rounded down to multiples of 64
// kind: alignment
// when: n % 64 != 0
// wrong: unwritten: the outputs past the last multiple

#define BF16
#include "product.h"

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
              void *stream)
{
    struct product g = product_of(a, b, c, m, n, k, trans_b);
    const int64_t rows = n / 64 * 64;
    int failed = 0;
    (void)stream;
    for (int64_t j = 0; j < rows; j += 64) { /* 64 outputs a block */
        for (int64_t i = 0; i < m; i += 4096) {
            struct product block = g;
            bf16 *part = malloc((size_t)((m - i < 4096 ? m - i : 4096) * 64) * sizeof *part);
            if (!part)
                return 1;
            block.a += i * k;
            block.b += j * g.along_n;
            block.c = part;
            block.m = m - i < 4096 ? m - i : 4096;
            block.n = 64;
            failed |= product_run(&block);
            for (int64_t r = 0; r < block.m; r++)
                memcpy(c + (i + r) * n + j, part + r * 64, 64 * sizeof *part);
            free(part);
        }
    }
    return failed;
}
