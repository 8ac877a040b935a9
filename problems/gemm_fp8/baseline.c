// problem: gemm_fp8
// verdict: general
// construction: panels of 16 weight rows, decoded and transposed; 4 x 16 fp32 sums in registers
#include "../candidate.h"
#include <stdlib.h>

enum { PANEL = 16, ROWS = 4 };

typedef float vec __attribute__((vector_size(PANEL * sizeof(float))));

/* panel[p][j] = weight[j][p] for `columns` <= 16 rows of k bytes; the lanes past them are zero. */
static void decode_panel(const e4m3 *weight, const float *value, int64_t columns, int64_t k,
                         float *panel)
{
    for (int64_t j = 0; j < PANEL; j++)
        for (int64_t p = 0; p < k; p++)
            panel[p * PANEL + j] = j < columns ? value[weight[j * k + p]] : 0.0f;
}

/* sum[i][j] = sum over p of x[i][p] * panel[p][j]: one fp32 chain per element. */
static void multiply(const e4m3 *const x[ROWS], const float *value, const vec *panel, int64_t k,
                     vec sum[ROWS])
{
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};

    for (int64_t p = 0; p < k; p++) {
        s0 += value[x[0][p]] * panel[p];
        s1 += value[x[1][p]] * panel[p];
        s2 += value[x[2][p]] * panel[p];
        s3 += value[x[3][p]] * panel[p];
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

/* All m rows of y in the columns j0 .. j0 + columns - 1. */
static void multiply_panel(const e4m3 *x, const float *value, const vec *panel, const float *scale,
                           bf16 *y, int64_t m, int64_t n, int64_t k, int64_t columns)
{
    for (int64_t i0 = 0; i0 < m; i0 += ROWS) {
        const e4m3 *rows[ROWS];
        vec sum[ROWS];

        for (int64_t i = 0; i < ROWS; i++) /* past the last row: that row again, not stored */
            rows[i] = x + (i0 + i < m ? i0 + i : m - 1) * k;
        multiply(rows, value, panel, k, sum);
        for (int64_t i = 0; i < ROWS && i0 + i < m; i++)
            for (int64_t j = 0; j < columns; j++)
                y[(i0 + i) * n + j] = float_to_bf16(sum[i][j] * scale[j]);
    }
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float value[256];
    int failed = 0;

    (void)stream;
    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        vec *panel = aligned_alloc(sizeof(vec), (size_t)k * sizeof(vec));

        if (!panel) {
            failed = 1;
            continue;
        }
        decode_panel(weight + j0 * k, value, columns, k, (float *)panel);
        multiply_panel(x, value, panel, scale + j0, y + j0, m, n, k, columns);
        free(panel);
    }
    return failed;
}
