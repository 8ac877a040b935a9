// problem: gemm_fp8
// fate: specialized
// fault: 16-bit index overflow
// outcomes: wrong
// when: n * k > 2^16 and k > 1024
// shows: min(n, 64) * k > 65536
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

enum { PANEL = 64 };

/* Offsets within a panel of 64 weight rows are 16-bit: enough for 64 x 1024. */
static float dot(const float *a, const float *panel, uint16_t start, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++) {
        uint16_t offset = (uint16_t)(start + p);
        sum += a[p] * panel[offset];
    }
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
                const float *panel = b + j / PANEL * PANEL * k;
                uint16_t start = (uint16_t)(j % PANEL * k);
                y[i * n + j] = float_to_bf16(dot(a + i * k, panel, start, k) * scale[j]);
            }
    }
    free(a);
    free(b);
    return failed;
}
