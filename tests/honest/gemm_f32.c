/* gemm_f32 in every honest way, on the host: fp32 sums in any order, or operands split without loss. */
#define GEMM_F32
#include "gemm_host.h"

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    (void)stream;
    return gemm_host(a, b, c, m, n, k, trans_b);
}
