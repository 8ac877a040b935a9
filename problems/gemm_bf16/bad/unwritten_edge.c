// problem: gemm_bf16
// fate: specialized
// fault: unwritten output
// outcomes: unwritten wrong
// when: m % 16 != 0 or n % 16 != 0
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

enum { TILE = 16 };

/* One TILE x TILE tile of c. */
static void tile(const float *rows, const float *columns, bf16 *c, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < TILE; i++)
        for (int64_t j = 0; j < TILE; j++)
            c[i * n + j] = float_to_bf16(dot(rows + i * k, columns + j * k, k));
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    float *rows = rows_of(a, m, k), *columns = columns_of(b, n, k, trans_b);
    int failed = !rows || !columns;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m / TILE; i++) /* rounds down: the ragged last tiles are left */
            for (int64_t j = 0; j < n / TILE; j++)
                tile(rows + i * TILE * k, columns + j * TILE * k, c + i * TILE * n + j * TILE, n,
                     k);
    }
    free(rows);
    free(columns);
    return failed;
}
