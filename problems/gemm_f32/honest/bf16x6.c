// problem: gemm_f32
// verdict: general
// construction: operands in three bf16 parts each, which hold all 24 bits; the six largest of nine products, in a sum for each size

#include <stdlib.h>

#include "../../candidate.h"

enum { PARTS = 3 };

/* x = part[0] + part[1] + part[2] but for what is below 2^-24 of x; a NaN is one in the first. */
static void split(float x, float part[PARTS])
{
    for (int i = 0; i < PARTS; i++) {
        part[i] = bf16_to_float(float_to_bf16(x));
        x -= part[i];
    }
}

/* b as PARTS planes [k, n]. */
static float *split_b(const float *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *plane = malloc((size_t)(PARTS * n * k) * sizeof *plane), part[PARTS];
    for (int64_t t = 0; plane && t < k; t++)
        for (int64_t j = 0; j < n; j++) {
            split(trans_b ? b[j * k + t] : b[t * n + j], part);
            for (int i = 0; i < PARTS; i++)
                plane[(i * k + t) * n + j] = part[i];
        }
    return plane;
}

/* Row by row; sum[s] takes the products of parts i and j with i + j = s. */
static void multiply(const float *a, const float *plane, float *sum, float *c, int64_t n, int64_t k)
{
    float part[PARTS];
    memset(sum, 0, (size_t)(PARTS * n) * sizeof *sum);
    for (int64_t t = 0; t < k; t++) {
        split(a[t], part);
        for (int i = 0; i < PARTS; i++)
            for (int j = 0; i + j < PARTS; j++)
#pragma omp simd
                for (int64_t e = 0; e < n; e++)
                    sum[(i + j) * n + e] += part[i] * plane[(j * k + t) * n + e];
    }
    for (int64_t e = 0; e < n; e++)
        c[e] = sum[e] + (sum[n + e] + sum[2 * n + e]);
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k, int64_t trans_b, void *stream)
{
    float *plane = split_b(b, n, k, trans_b), *sums = malloc((size_t)(m * PARTS * n) * sizeof *sums);
    (void)stream;
    if (plane && sums) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            multiply(a + i * k, plane, sums + i * PARTS * n, c + i * n, n, k);
    }
    free(plane);
    free(sums);
    return !plane || !sums;
}
