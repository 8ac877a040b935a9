// problem: gemm_fp8
// fate: broken
// fault: lower precision
// outcomes: wrong
// shows: input=normal, any k from about 8; sums beyond 65504
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

/* Eight chains of fp16 sums: 11 bits, and infinity from 65520 on. */
static float dot(const float *a, const float *b, int64_t k)
{
    _Float16 chain[8] = {0};
    float sum = 0;

    for (int64_t p = 0; p < k; p++)
        chain[p % 8] = (_Float16)((float)chain[p % 8] + a[p] * b[p]);
    for (int c = 0; c < 8; c++)
        sum += (float)chain[c];
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
