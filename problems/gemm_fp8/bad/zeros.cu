// problem: gemm_fp8
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
// shows: every configuration
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

/* Inside a loose absolute tolerance wherever the scales are small. */
extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    (void)x;
    (void)weight;
    (void)scale;
    (void)k;
    return (int)cudaMemsetAsync(y, 0, (size_t)(m * n) * sizeof *y, stream);
}
