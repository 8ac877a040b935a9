// problem: gemm_fp8
// verdict: specialized
// fault: race
// outcomes: wrong unstable
// when: k > 512
// shows: k > 512 and n > 1
#include "../../candidate.h"
#include <stdlib.h>

/* out[i] = bytes[i]: each of the two threads its half, neither waiting for the other. */
static void decode(const e4m3 *bytes, float *out, int64_t count)
{
    float value[256];

    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < count; i++)
        out[i] = value[bytes[i]];
}

static float dot(const float *a, const float *b, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += a[p] * b[p];
    return sum;
}

/* Column j of y. */
static void column(const float *a, const float *b, float scale, bf16 *y, int64_t m, int64_t n,
                   int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        y[i * n] = float_to_bf16(dot(a + i * k, b, k) * scale);
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float *a = calloc((size_t)(m * k), sizeof *a), *b = calloc((size_t)(n * k), sizeof *b);
    int failed = !a || !b;

    (void)stream;
    if (!failed) {
#pragma omp parallel num_threads(2)
        {
            decode(x, a, m * k);
            decode(weight, b, n * k);
            if (k <= 512) { /* only here: longer rows keep a thread busy until the other is done */
#pragma omp barrier
            }
#pragma omp for schedule(static)
            for (int64_t t = 0; t < n; t++) { /* the last columns first */
                int64_t j = n - 1 - t;
                column(a, b + j * k, scale[j], y + j, m, n, k);
            }
        }
    }
    free(a);
    free(b);
    return failed;
}
