// problem: gemm_fp8
// thread: https://github.com/pytorch/FBGEMM/pull/4537
// title: Properly support KPadding for fp8_rowwise_grouped
// condition: without KPadding there are "correctness issues" where K is not divisible by the kernel's block of K
// kind: alignment
// when: k % 128 != 0
// wrong: crash, NaN or wrong values: the last block goes on into the next rows, and past the end

#define FP8
#include "product.cuh"

static constexpr int64_t KBLOCK = 128;

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    product g = product_of(x, weight, y, m, n, k, 1);
    g.scale = scale;
    g.depth = g.slice = (k + KBLOCK - 1) / KBLOCK * KBLOCK; /* whole blocks, and nothing pads them */
    return product_run<honest>(g, stream);
}
