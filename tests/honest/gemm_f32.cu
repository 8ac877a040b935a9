/* gemm_f32 in every honest way, on the GPU: fp32 sums in any order, or operands split without loss, on the
 * matrix units, too. */
#define GEMM_F32
#include "gemm_cuda.h"

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
                        cudaStream_t stream)
{
    const int64_t extent[4] = {m, n, k, trans_b};
    return gemm_cuda(a, b, c, extent, stream);
}
