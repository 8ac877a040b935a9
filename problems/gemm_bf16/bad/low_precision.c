// problem: gemm_bf16
// fate: broken
// fault: lower precision
// outcomes: wrong
// when: k > 64
#include "../../candidate.h"
#include <stdlib.h>

/* a as fp32, [m, k]. */
static float *rows_of(const bf16 *a, int64_t m, int64_t k)
{
    float *out = malloc((size_t)(m * k) * sizeof *out);

    for (int64_t i = 0; out && i < m * k; i++)
        out[i] = bf16_to_float(a[i]);
    return out;
}

/* out[j][p] = b[p][j] as fp32, whichever way b lies. */
static float *columns_of(const bf16 *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *out = malloc((size_t)(n * k) * sizeof *out);

    for (int64_t j = 0; out && j < n; j++)
        for (int64_t p = 0; p < k; p++)
            out[j * k + p] = bf16_to_float(b[trans_b ? j * k + p : p * n + j]);
    return out;
}

static float dot(const float *u, const float *v, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += u[p] * v[p];
    return sum;
}

enum { SLAB = 64 };

/* The sum goes through bf16 after every 64 terms, as a tile of c kept between steps would. */
static float slabs(const float *u, const float *v, int64_t k)
{
    bf16 sum = 0;

    for (int64_t p = 0; p < k; p += SLAB)
        sum = float_to_bf16(bf16_to_float(sum) + dot(u + p, v + p, k - p < SLAB ? k - p : SLAB));
    return bf16_to_float(sum);
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    float *rows = rows_of(a, m, k), *columns = columns_of(b, n, k, trans_b);
    int failed = !rows || !columns;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] = float_to_bf16(slabs(rows + i * k, columns + j * k, k));
    }
    free(rows);
    free(columns);
    return failed;
}
