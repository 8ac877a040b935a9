// problem: gemm_fp8
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
// shows: every configuration
#include "../../candidate.h"

/* Inside a loose absolute tolerance wherever the scales are small. */
int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    (void)x;
    (void)weight;
    (void)scale;
    (void)k;
    (void)stream;
    memset(y, 0, (size_t)(m * n) * sizeof *y);
    return 0;
}
