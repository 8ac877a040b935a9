// problem: gemm_w4a16
// construction: every admitted freedom a switch, every fault a mutant: gemm_w4a16.h
#include "gemm_w4a16.h"

int gemm_w4a16(const uint16_t *x, const uint8_t *w_q, const uint16_t *scales, const uint16_t *zeros,
               uint16_t *y, int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    struct w4 p = {x, w_q, scales, zeros, m, n, k, group, {0}, honest_mutating, honest_unrounded};
    (void)stream;
    memcpy(p.choice, honest_choice, sizeof p.choice);
#pragma omp parallel for schedule(static)
    for (int64_t index = 0; index < m * n; index++)
        y[index] = w4_element(&p, index / n, index % n);
    return 0;
}
