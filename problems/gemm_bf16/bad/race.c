// problem: gemm_bf16
// verdict: broken
// fault: race
// outcomes: wrong unstable
// when: any
#include "../../candidate.h"
#include <stdlib.h>

static float dot(const float *u, const float *v, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += u[p] * v[p];
    return sum;
}

/* Thread 0 copies a [m, k], thread 1 the columns of b; neither waits for the other. */
static void pack(const bf16 *a, const bf16 *b, float *rows, float *columns, int64_t m, int64_t n,
                 int64_t k, int64_t trans_b)
{
#pragma omp for schedule(static, 1) nowait
    for (int share = 0; share < 2; share++) {
        for (int64_t i = 0; share == 0 && i < m * k; i++)
            rows[i] = bf16_to_float(a[i]);
        for (int64_t j = 0; share == 1 && j < n; j++)
            for (int64_t p = 0; p < k; p++)
                columns[j * k + p] = bf16_to_float(b[trans_b ? j * k + p : p * n + j]);
    }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    float *rows = calloc((size_t)(m * k), sizeof *rows);
    float *columns = calloc((size_t)(n * k), sizeof *columns);
    int failed = !rows || !columns;

    (void)stream;
    if (!failed) {
#pragma omp parallel num_threads(2)
        {
            pack(a, b, rows, columns, m, n, k, trans_b);
#pragma omp for schedule(static)
            for (int64_t i = 0; i < m; i++)
                for (int64_t j = 0; j < n; j++)
                    c[i * n + j] = float_to_bf16(dot(rows + i * k, columns + j * k, k));
        }
    }
    free(rows);
    free(columns);
    return failed;
}
