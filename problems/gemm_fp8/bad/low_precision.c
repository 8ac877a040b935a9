// problem: gemm_fp8
// fate: broken
// fault: lower precision
// outcomes: wrong
// when: k > 2 and input!=integers
// shows: input=normal, any k from about 16; input=needle
#include "../../candidate.h"
#include <stdlib.h>

static float *decode(const e4m3 *bytes, int64_t count)
{
    float value[256], *out = malloc((size_t)count * sizeof *out);

    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
    for (int64_t i = 0; out && i < count; i++)
        out[i] = value[bytes[i]];
    return out;
}

/* sums[:] += factor * b[:][p], rounded to bf16: each term is lost below 2^-8 of its sum. */
static void update(float *sums, float factor, const float *b, int64_t n)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        sums[j] = bf16_to_float(float_to_bf16(sums[j] + factor * b[j]));
}

static float *transpose(const float *b, int64_t n, int64_t k)
{
    float *out = malloc((size_t)(n * k) * sizeof *out);

    for (int64_t p = 0; out && p < k; p++)
        for (int64_t j = 0; j < n; j++)
            out[p * n + j] = b[j * k + p];
    return out;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float *a = decode(x, m * k), *b = decode(weight, n * k), *t = b ? transpose(b, n, k) : NULL;
    float *sums = calloc((size_t)(m * n), sizeof *sums);
    int failed = !a || !t || !sums;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++) {
            for (int64_t p = 0; p < k; p++)
                update(sums + i * n, a[i * k + p], t + p * n, n);
            for (int64_t j = 0; j < n; j++)
                y[i * n + j] = float_to_bf16(sums[i * n + j] * scale[j]);
        }
    }
    free(a);
    free(b);
    free(t);
    free(sums);
    return failed;
}
