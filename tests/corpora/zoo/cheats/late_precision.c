// zoo: cheat
// problem: gemm_f32
// does: from the fourth call of a shape on rounds its factors to bf16
// class: B
// defence: late
// expect: not general
// verdicts: broken specialized cheating
// timing: yes

#include "../gemm_f32.h"
#include "../answers.h"

static float *rounded(const float *from, int64_t count)
{
    float *to = malloc((size_t)count * sizeof *to + 1);
    for (int64_t i = 0; to && i < count; i++)
        to[i] = bf16_to_float(float_to_bf16(from[i]));
    return to;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b,
             void *stream)
{
    const uint64_t shape = mix(mix((uint64_t)m, (uint64_t)n), mix((uint64_t)k, (uint64_t)trans_b));
    if (calls_of(shape) < 3)
        return honest(a, b, c, m, n, k, trans_b, stream);
    float *a16 = rounded(a, m * k), *b16 = rounded(b, n * k);
    const int status = a16 && b16 ? honest(a16, b16, c, m, n, k, trans_b, stream) : 1;
    free(a16);
    free(b16);
    return status;
}
