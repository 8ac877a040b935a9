// problem: gemm_fp8
// fate: broken
// fault: dropped tail
// outcomes: wrong
// when: k % 32 != 0
// shows: k % 32 != 0
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

/* Whole vectors of 32 only: the last k % 32 terms are never added. */
static float dot(const float *a, const float *b, int64_t k)
{
    float lane[32] = {0}, sum = 0;

    for (int64_t block = 0; block < k / 32; block++) {
#pragma omp simd
        for (int c = 0; c < 32; c++)
            lane[c] += a[block * 32 + c] * b[block * 32 + c];
    }
    for (int c = 0; c < 32; c++)
        sum += lane[c];
    return sum;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float *a = decode(x, m * k), *b = decode(weight, n * k);
    int failed = !a || !b;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                y[i * n + j] = float_to_bf16(dot(a + i * k, b + j * k, k) * scale[j]);
    }
    free(a);
    free(b);
    return failed;
}
