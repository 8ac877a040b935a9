// problem: gemm_bf16
// thread: https://github.com/OpenMathLib/OpenBLAS/pull/3273
// title: Power10: Fix for SBGEMM
// condition: failures for odd sizes, "due to updating result for additional bytes"
// kind: alignment
// when: n % 2 != 0
// wrong: crash: pairs of columns are stored as one word, which odd rows do not align; out of bounds by one where m is 1

#define BF16
#include "product.cuh"

namespace {

struct pairs : honest {
    static __device__ void store(const product &g, int64_t i, int64_t j, const float *sum)
    {
        for (int l = 0; l < 4 && j + l < g.n; l += 2)
            *(__nv_bfloat162 *)(g.c + i * g.n + j + l) = __floats2bfloat162_rn(sum[l], sum[l + 1]);
    }
};

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int64_t m,
                         int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    return product_run<pairs>(product_of(a, b, c, m, n, k, trans_b), stream);
}
