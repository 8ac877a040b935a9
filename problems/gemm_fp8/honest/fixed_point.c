// problem: gemm_fp8
// verdict: general
// construction: exact: e4m3 as integers in units of 2^-9, 64-bit sums, NaN flags by row
#include "../../candidate.h"
#include <stdlib.h>

typedef struct {
    int32_t *value; /* [rows, k], |value| <= 448 * 512 */
    uint8_t *nan;   /* [rows]: the row holds a NaN */
} integers;

static int to_integers(const e4m3 *bytes, int64_t rows, int64_t k, integers *out)
{
    int32_t unit[256];

    out->value = malloc((size_t)(rows * k) * sizeof *out->value);
    out->nan = calloc((size_t)rows, 1);
    if (!out->value || !out->nan)
        return 1;
    for (int b = 0; b < 256; b++)
        unit[b] = (b & 0x7f) == 0x7f ? 0 : (int32_t)(e4m3_to_float((e4m3)b) * 512);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < k; p++) {
            e4m3 b = bytes[i * k + p];
            out->value[i * k + p] = unit[b];
            out->nan[i] |= (b & 0x7f) == 0x7f;
        }
    return 0;
}

/* In units of 2^-18; |sum| < 2^14 * 2^36, which a double holds exactly too. */
static int64_t dot(const int32_t *a, const int32_t *b, int64_t k)
{
    int64_t sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += (int64_t)a[p] * b[p];
    return sum;
}

static void product(const integers *a, const integers *b, const float *scale, bf16 *y, int64_t m,
                    int64_t n, int64_t k)
{
#pragma omp parallel for collapse(2)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = ldexp((double)dot(a->value + i * k, b->value + j * k, k), -18);

            if (a->nan[i] | b->nan[j])
                sum = NAN;
            y[i * n + j] = float_to_bf16((float)(sum * scale[j]));
        }
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    integers a = {0}, b = {0};
    int failed = to_integers(x, m, k, &a) | to_integers(weight, n, k, &b);

    (void)stream;
    if (!failed)
        product(&a, &b, scale, y, m, n, k);
    free(a.value);
    free(a.nan);
    free(b.value);
    free(b.nan);
    return failed;
}
