// problem: gemm_f32
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include <stdint.h>

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    (void)a;
    (void)b;
    (void)k;
    (void)trans_b;
    return (int)cudaMemsetAsync(c, 0, (size_t)(m * n) * sizeof *c, stream);
}
