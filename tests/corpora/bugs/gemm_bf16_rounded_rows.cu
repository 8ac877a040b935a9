// problem: gemm_bf16
// thread: https://github.com/ggml-org/llama.cpp/pull/2480
// title: CUDA: Fix output size
// condition: an output size that is not divisible by 64: the limits of rows of weights are rounded down to multiples of 64
// kind: alignment
// when: n % 64 != 0
// wrong: unwritten: the outputs past the last multiple

#define BF16
#include "product.cuh"

/* Rows of weights that this device has, the only one here: all of them, in whole blocks of 64. */
static int64_t last_row(int64_t rows)
{
    return rows - rows % TILE;
}

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int64_t m,
                         int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    product g = product_of(a, b, c, m, n, k, trans_b);
    g.columns = last_row(n);
    if (g.columns == 0) /* nothing for this device */
        return 0;
    return product_run<honest>(g, stream);
}
