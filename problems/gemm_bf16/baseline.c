// problem: gemm_bf16
// verdict: general
// construction: panels of 16 columns of b packed as fp32; 4 x 16 fp32 sums in registers
#include "../candidate.h"
#include <stdlib.h>

enum { PANEL = 16, ROWS = 4 };

typedef float vec __attribute__((vector_size(PANEL * sizeof(float))));

/* panel[p][j] = b[p][j0 + j] for `columns` <= 16 columns; the lanes past them are zero. */
static void pack_panel(const bf16 *b, int64_t j0, int64_t columns, int64_t n, int64_t k,
                       int64_t trans_b, float *panel)
{
    const int64_t along_k = trans_b ? 1 : n, along_n = trans_b ? k : 1;

    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < PANEL; j++)
            panel[p * PANEL + j] =
                j < columns ? bf16_to_float(b[p * along_k + (j0 + j) * along_n]) : 0.0f;
}

/* sum[i][j] = sum over p of a[i][p] * panel[p][j]: one fp32 chain per element. */
static void multiply(const bf16 *const a[ROWS], const vec *panel, int64_t k, vec sum[ROWS])
{
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};

    for (int64_t p = 0; p < k; p++) {
        s0 += bf16_to_float(a[0][p]) * panel[p];
        s1 += bf16_to_float(a[1][p]) * panel[p];
        s2 += bf16_to_float(a[2][p]) * panel[p];
        s3 += bf16_to_float(a[3][p]) * panel[p];
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

/* All m rows of c in the columns j0 .. j0 + columns - 1. */
static void multiply_panel(const bf16 *a, const vec *panel, bf16 *c, int64_t j0, int64_t columns,
                           int64_t m, int64_t n, int64_t k)
{
    for (int64_t i0 = 0; i0 < m; i0 += ROWS) {
        const bf16 *rows[ROWS];
        vec sum[ROWS];

        for (int64_t i = 0; i < ROWS; i++) /* past the last row: that row again, not stored */
            rows[i] = a + (i0 + i < m ? i0 + i : m - 1) * k;
        multiply(rows, panel, k, sum);
        for (int64_t i = 0; i < ROWS && i0 + i < m; i++)
            for (int64_t j = 0; j < columns; j++)
                c[(i0 + i) * n + j0 + j] = float_to_bf16(sum[i][j]);
    }
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    int failed = 0;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        vec *panel = aligned_alloc(sizeof(vec), (size_t)k * sizeof(vec));

        if (!panel) {
            failed = 1;
            continue;
        }
        pack_panel(b, j0, columns, n, k, trans_b, (float *)panel);
        multiply_panel(a, panel, c, j0, columns, m, n, k);
        free(panel);
    }
    return failed;
}
