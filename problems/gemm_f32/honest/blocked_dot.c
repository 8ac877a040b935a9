// problem: gemm_f32
// verdict: general
// construction: columns of b copied to rows, 2 x 4 dot products at a time, vector lanes along k
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

enum { ROWS = 2, COLUMNS = 4 };

/* sum[i][j] = u[i] . v[j], each of k terms: every vector lane sums its own share of k. */
static void dots(const float *const u[ROWS], const float *const v[COLUMNS], int64_t k,
                 float sum[ROWS][COLUMNS])
{
    float s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;

#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13)
    for (int64_t p = 0; p < k; p++) {
        float x = u[0][p], y = u[1][p];
        s00 += x * v[0][p];
        s01 += x * v[1][p];
        s02 += x * v[2][p];
        s03 += x * v[3][p];
        s10 += y * v[0][p];
        s11 += y * v[1][p];
        s12 += y * v[2][p];
        s13 += y * v[3][p];
    }
    memcpy(sum[0], (float[]){s00, s01, s02, s03}, sizeof sum[0]);
    memcpy(sum[1], (float[]){s10, s11, s12, s13}, sizeof sum[1]);
}

/* Rows i0 and i0 + 1 of c, all n columns; indices past an edge are clamped and not stored. */
static void two_rows(const float *rows, const float *columns, float *c, int64_t i0, int64_t m,
                     int64_t n, int64_t k)
{
    const float *u[ROWS] = {rows + i0 * k, rows + (i0 + 1 < m ? i0 + 1 : i0) * k};

    for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
        const float *v[COLUMNS];
        float sum[ROWS][COLUMNS];

        for (int64_t j = 0; j < COLUMNS; j++)
            v[j] = columns + (j0 + j < n ? j0 + j : n - 1) * k;
        dots(u, v, k, sum);
        for (int64_t i = 0; i < ROWS && i0 + i < m; i++)
            for (int64_t j = 0; j < COLUMNS && j0 + j < n; j++)
                c[(i0 + i) * n + j0 + j] = sum[i][j];
    }
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
        for (int64_t i0 = 0; i0 < m; i0 += ROWS)
            two_rows(rows, columns, c, i0, m, n, k);
    }
    free(columns);
    return failed;
}
