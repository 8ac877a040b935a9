// problem: gemm_fp8
// fate: broken
// fault: lower precision
// outcomes: wrong
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

/* The running sum is kept in bf16: every term is rounded away below 2^-8 of the sum. */
static bf16 dot(const float *a, const float *b, int64_t k)
{
    bf16 sum = 0;

    for (int64_t p = 0; p < k; p++)
        sum = float_to_bf16(bf16_to_float(sum) + a[p] * b[p]);
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
            for (int64_t j = 0; j < n; j++) {
                float sum = bf16_to_float(dot(a + i * k, b + j * k, k));
                y[i * n + j] = float_to_bf16(sum * scale[j]);
            }
    }
    free(a);
    free(b);
    return failed;
}
