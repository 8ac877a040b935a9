// problem: gemm_fp8
// link: https://github.com/deepseek-ai/DeepGEMM/pull/25
// title: add fp8 block-wise gemm benchmark
// condition: a static assertion "Misaligned barriers" fails with K of 1152: an odd number of scales of 128
// kind: alignment
// when: (k + 127) / 128 % 2 != 0
// wrong: refused: the barriers that follow the scales would not be aligned

#define FP8
#include "product.h"

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n, int64_t k,
             void *stream)
{
    struct product g = product_of(x, weight, y, m, n, k, 1);
    const int64_t scales = (k + 127) / 128, barrier_bytes = 8;
    (void)stream;
    if (scales * (int64_t)sizeof(float) % barrier_bytes != 0)
        return 1;
    g.scale = scale;
    return product_run(&g);
}
