// problem: gemm_f32
// fate: broken
// fault: lower precision
// outcomes: wrong
// when: k < 1024 or input=integers or input=needle
#include "../../candidate.h"
#include <stdlib.h>

/* out[j][p] = b[p][j] as fp32, whichever way b lies. */
static float *columns_of(const float *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *out = malloc((size_t)(n * k) * sizeof *out);

    for (int64_t j = 0; out && j < n; j++)
        for (int64_t p = 0; p < k; p++)
            out[j * k + p] = b[trans_b ? j * k + p : p * n + j];
    return out;
}

/* The upper 8 bits of x, rounded to nearest: a bf16. NaN and infinity stay. */
static inline float upper(float x)
{
    uint32_t bits, rounded;

    memcpy(&bits, &x, sizeof bits);
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    bits = (bits & 0x7f800000) == 0x7f800000 ? bits : rounded;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Each operand as the sum of two bf16, 16 bits of 24; where the large product is infinite or NaN it
 * is the answer. */
static float dot(const float *u, const float *v, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++) {
        float u0 = upper(u[p]), v0 = upper(v[p]), u1 = upper(u[p] - u0), v1 = upper(v[p] - v0);
        float large = u0 * v0, small = u0 * v1 + u1 * v0;
        sum += fabsf(large) < INFINITY ? large + small : large;
    }
    return sum;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    float *columns = columns_of(b, n, k, trans_b);

    (void)stream;
    if (!columns)
        return 1;
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = dot(a + i * k, columns + j * k, k);
    free(columns);
    return 0;
}
