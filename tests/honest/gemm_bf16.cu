/* gemm_bf16 in every way that is honest: fp32 sums in any order or those of the matrix units, one rounding to bf16.
 * On the GPU. */
#include "gemm_cuda.h"

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int64_t m, int64_t n,
                         int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const int64_t extent[4] = {m, n, k, trans_b};
    return gemm_cuda((const uint16_t *)a, (const uint16_t *)b, (uint16_t *)c, extent, stream);
}
