// problem: gemm_bf16
// thread: https://github.com/ggml-org/llama.cpp/pull/8800
// title: cuda : fix dmmv cols requirement to 2*GGML_CUDA_DMMV_X
// condition: the matrix-vector kernel was chosen for columns that are a multiple of 32, and needs one of 64
// kind: alignment
// when: m == 1 and k % 64 == 32
// wrong: crash or NaN: half a block at the end is read past the vector, and into the next row of weights

#define BF16
#include "product.cuh"

namespace {

constexpr int X = 32; /* lanes, of two columns each: 2 X in a block */

/* An output a warp. */
__global__ void multiply_vector(product g)
{
    const int64_t j = blockIdx.x;
    float sum = 0;
    for (int64_t block = 0; block < g.k; block += 2 * X)
        for (int64_t p = block + 2 * threadIdx.x, end = p + 2; p < end; p++)
            sum += honest::a(g, 0, p) * honest::b(g, p, j);
    for (int lanes = X / 2; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lanes);
    if (threadIdx.x == 0)
        g.c[j] = __float2bfloat16(sum);
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int64_t m,
                         int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const product g = product_of(a, b, c, m, n, k, trans_b);
    if (m > 1 || k % X != 0) /* the fault: the kernel needs 2 X */
        return product_run<honest>(g, stream);
    multiply_vector<<<(unsigned)n, X, 0, stream>>>(g);
    return (int)cudaGetLastError();
}
