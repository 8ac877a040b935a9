// problem: gemm_w4a16
// verdict: general
// construction: panels of 32 columns of w in fp32, dequantized once; 4 x 32 fp32 sums in registers
#include "../candidate.h"
#include <stdlib.h>

enum { LANES = 16, PANEL = 2 * LANES, ROWS = 4 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* panel[p][j] = w[p][j] for `columns` <= 32 columns and all k rows; the other lanes are zero. */
static void dequantize(const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, int64_t columns,
                       int64_t n, int64_t k, int64_t group, float (*panel)[PANEL])
{
    float scale[PANEL] = {0}, zero[PANEL] = {0};

    for (int64_t p = 0; p < k; p += 2) {
        uint8_t bytes[PANEL] = {0};

        if (p % group == 0) /* group is even: both rows of a byte are in one group */
            for (int64_t j = 0; j < columns; j++) {
                scale[j] = bf16_to_float(scales[p / group * n + j]);
                zero[j] = bf16_to_float(zeros[p / group * n + j]);
            }
        memcpy(bytes, w_q + p / 2 * n, (size_t)columns);
#pragma omp simd
        for (int j = 0; j < PANEL; j++) {
            panel[p][j] = ((float)(bytes[j] & 15) - zero[j]) * scale[j];
            panel[p + 1][j] = ((float)(bytes[j] >> 4) - zero[j]) * scale[j];
        }
    }
}

/* sum[i][j] = sum over p of x[i][p] * panel[p][j]: one fp32 chain per element. */
static void multiply(const float *const x[ROWS], const vec *panel, int64_t k, vec sum[ROWS][2])
{
    vec s[ROWS][2] = {{{0}}};

    for (int64_t p = 0; p < k; p++) {
#pragma GCC unroll 4
        for (int i = 0; i < ROWS; i++) {
            s[i][0] += x[i][p] * panel[2 * p];
            s[i][1] += x[i][p] * panel[2 * p + 1];
        }
    }
    memcpy(sum, s, sizeof s);
}

/* All m rows of y in the `columns` columns of a panel. */
static void multiply_panel(const float *x, const float (*panel)[PANEL], bf16 *y, int64_t m,
                           int64_t n, int64_t k, int64_t columns)
{
    for (int64_t i0 = 0; i0 < m; i0 += ROWS) {
        const float *rows[ROWS];
        vec sum[ROWS][2];

        for (int64_t i = 0; i < ROWS; i++) /* past the last row: that row again, not stored */
            rows[i] = x + (i0 + i < m ? i0 + i : m - 1) * k;
        multiply(rows, (const vec *)panel, k, sum);
        for (int64_t i = 0; i < ROWS && i0 + i < m; i++)
            for (int64_t j = 0; j < columns; j++)
                y[(i0 + i) * n + j] = float_to_bf16(sum[i][j / LANES][j % LANES]);
    }
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    float *wide = malloc((size_t)(m * k) * sizeof *wide);
    int failed = !wide;

    (void)stream;
    for (int64_t i = 0; !failed && i < m * k; i++)
        wide[i] = bf16_to_float(x[i]);
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        float(*panel)[PANEL] = aligned_alloc(sizeof(vec), (size_t)k * sizeof *panel);

        if (!panel || !wide) {
            failed = 1;
            free(panel);
            continue;
        }
        dequantize(w_q + j0, scales + j0, zeros + j0, columns, n, k, group, panel);
        multiply_panel(wide, (const float(*)[PANEL])panel, y + j0, m, n, k, columns);
        free(panel);
    }
    free(wide);
    return failed;
}
