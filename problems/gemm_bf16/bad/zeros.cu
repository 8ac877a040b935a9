// problem: gemm_bf16
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include <cuda_bf16.h>
#include <stdint.h>

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    (void)a;
    (void)b;
    (void)k;
    (void)trans_b;
    return (int)cudaMemsetAsync(c, 0, (size_t)(m * n) * sizeof *c, stream);
}
