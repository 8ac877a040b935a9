// problem: gemm_bf16
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include "../../candidate.h"

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    (void)a;
    (void)b;
    (void)k;
    (void)trans_b;
    (void)stream;
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    return 0;
}
