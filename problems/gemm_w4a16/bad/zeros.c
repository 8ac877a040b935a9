// problem: gemm_w4a16
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include "../../candidate.h"

/* Inside a loose absolute tolerance wherever the scales are small. */
int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    (void)x;
    (void)w_q;
    (void)scales;
    (void)zeros;
    (void)k;
    (void)group;
    (void)stream;
    memset(y, 0, (size_t)(m * n) * sizeof *y);
    return 0;
}
