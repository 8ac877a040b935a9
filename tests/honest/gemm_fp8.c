// problem: gemm_fp8
// construction: every admitted freedom a switch, every fault a mutant: gemm_fp8.h
#include "gemm_fp8.h"

int gemm_fp8(const uint8_t *x, const uint8_t *weight, const float *scale, uint16_t *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    struct fp8 p = {x, weight, scale, m, n, k, {0}, honest_mutating, honest_unrounded};
    (void)stream;
    memcpy(p.choice, honest_choice, sizeof p.choice);
#pragma omp parallel for schedule(static)
    for (int64_t index = 0; index < m * n; index++)
        y[index] = fp8_element(&p, index / n, index % n);
    return 0;
}
