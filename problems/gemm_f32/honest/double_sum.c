// problem: gemm_f32
// verdict: general
// construction: dot products of fp32 columns, products and sums in double
#include "../../candidate.h"
#include <stdlib.h>

/* out[j][p] = b[p][j] as fp32, whichever way b lies. */
static float *columns_of(const float *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *out = malloc((size_t)(n * k) * sizeof *out);

    for (int64_t j = 0; out && j < n; j++)
        for (int64_t p = 0; p < k; p++)
            out[j * k + p] = b[trans_b ? j * k + p : p * n + j];
    return out;
}

/* The products are exact; rounded to fp32 only when stored. */
static double dot(const float *u, const float *v, int64_t k)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += (double)u[p] * (double)v[p];
    return sum;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    const float *rows = a;
    float *columns = columns_of(b, n, k, trans_b);
    int failed = !columns;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] = (float)dot(rows + i * k, columns + j * k, k);
    }
    free(columns);
    return failed;
}
