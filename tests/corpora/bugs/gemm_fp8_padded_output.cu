// problem: gemm_fp8
// thread: https://github.com/NVIDIA/TransformerEngine/pull/2911
// title: feat: auto-pad FP8 GEMM dimensions for unaligned sequence packing
// condition: the leading dimension of the output becomes the padded size, the buffer has the original one
// kind: alignment
// when: n % 16 != 0 and m > 1
// wrong: unwritten and out of bounds: every row after the first is shifted

#define FP8
#include "product.cuh"

namespace {

struct padded : honest {
    static __device__ void store(const product &g, int64_t i, int64_t j, const float *sum)
    {
        const int64_t ldd = (g.n + 15) / 16 * 16; /* as for a padded output; the buffer is the caller's */
        for (int l = 0; l < 4 && j + l < g.n; l++)
            g.c[i * ldd + j + l] = __float2bfloat16(sum[l] * g.scale[j + l]);
    }
};

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    product g = product_of(x, weight, y, m, n, k, 1);
    g.scale = scale;
    return product_run<padded>(g, stream);
}
