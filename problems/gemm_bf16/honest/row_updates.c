// problem: gemm_bf16
// verdict: general
// construction: i, k, j loops: a row of fp32 sums, updated by one row of b at a time; b laid out
// [k, n] first
#include "../../candidate.h"
#include <stdlib.h>

/* out[p][j] = b[p][j] as fp32, whichever way b lies. */
static float *rows_of_b(const bf16 *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *out = malloc((size_t)(k * n) * sizeof *out);

    for (int64_t p = 0; out && p < k; p++)
        for (int64_t j = 0; j < n; j++)
            out[p * n + j] = bf16_to_float(b[trans_b ? j * k + p : p * n + j]);
    return out;
}

/* sums[:] = a[:] . b[:][:]; zeros of a are not skipped, 0 * inf must stay NaN. */
static void sum_row(const bf16 *a, const float *b, float *sums, int64_t n, int64_t k)
{
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t p = 0; p < k; p++) {
        float factor = bf16_to_float(a[p]);
        const float *row = b + p * n;
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            sums[j] += factor * row[j];
    }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    float *rows = rows_of_b(b, n, k, trans_b);
    int failed = !rows;

    (void)stream;
#pragma omp parallel reduction(| : failed)
    {
        float *sums = malloc((size_t)n * sizeof *sums);

        failed |= !sums;
#pragma omp for
        for (int64_t i = 0; i < m; i++) {
            if (!sums || !rows)
                continue;
            sum_row(a + i * k, rows, sums, n, k);
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] = float_to_bf16(sums[j]);
        }
        free(sums);
    }
    free(rows);
    return failed;
}
