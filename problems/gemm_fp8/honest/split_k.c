// problem: gemm_fp8
// verdict: general
// construction: k cut into up to four slices, each summed in fp32, slices merged in order
#include "../../candidate.h"
#include <stdlib.h>

enum { SLICES = 4, LEAST = 64 };

static float *decode(const e4m3 *bytes, int64_t count)
{
    float value[256], *out = malloc((size_t)count * sizeof *out);

    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
    for (int64_t i = 0; out && i < count; i++)
        out[i] = value[bytes[i]];
    return out;
}

/* part[i][j] = sum of the terms first .. last - 1 of a[i] . b[j]; one task per row. */
static void sum_slice(const float *a, const float *b, float *part, int64_t n, int64_t k,
                      int64_t first, int64_t last)
{
    for (int64_t j = 0; j < n; j++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t p = first; p < last; p++)
            sum += a[p] * b[j * k + p];
        part[j] = sum;
    }
}

static void merge(const float *part, const float *scale, bf16 *y, int64_t m, int64_t n, int slices)
{
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = part[i * n + j];
            for (int s = 1; s < slices; s++)
                sum += part[(s * m + i) * n + j];
            y[i * n + j] = float_to_bf16(sum * scale[j]);
        }
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    int slices = k / LEAST < 1 ? 1 : k / LEAST < SLICES ? (int)(k / LEAST) : SLICES;
    float *a = decode(x, m * k), *b = decode(weight, n * k);
    float *part = malloc((size_t)(slices * m * n) * sizeof *part);
    int failed = !a || !b || !part;

    (void)stream;
    if (!failed) {
#pragma omp parallel for collapse(2)
        for (int s = 0; s < slices; s++)
            for (int64_t i = 0; i < m; i++)
                sum_slice(a + i * k, b, part + (s * m + i) * n, n, k, k * s / slices,
                          k * (s + 1) / slices);
        merge(part, scale, y, m, n, slices);
    }
    free(a);
    free(b);
    free(part);
    return failed;
}
