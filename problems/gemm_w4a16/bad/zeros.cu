// problem: gemm_w4a16
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include <cuda_bf16.h>
#include <stdint.h>

/* Inside a loose absolute tolerance wherever the scales are small. */
extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    (void)x;
    (void)w_q;
    (void)scales;
    (void)zeros;
    (void)k;
    (void)group;
    return (int)cudaMemsetAsync(y, 0, (size_t)(m * n) * sizeof *y, stream);
}
