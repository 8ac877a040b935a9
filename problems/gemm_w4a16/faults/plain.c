// problem: gemm_w4a16
// verdict: general
// construction: panels of 32 columns dequantized to fp32, then row by row; panels over the cores

#include "../../candidate.h"
#include <stdlib.h>

enum { PANEL = 32 };

/* panel[p][j] = w[p][j] for `columns` <= 32 columns and all k rows; the other lanes are zero. */
static void dequantize(const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, int64_t columns,
                       int64_t n, int64_t k, int64_t group, float (*panel)[PANEL])
{
    memset(panel, 0, (size_t)k * sizeof *panel);
    for (int64_t p = 0; p < k; p += 2)
        for (int64_t j = 0; j < columns; j++) {
            uint8_t byte = w_q[p / 2 * n + j];
            float scale = bf16_to_float(scales[p / group * n + j]);
            float zero = bf16_to_float(zeros[p / group * n + j]);
            panel[p][j] = ((float)(byte & 15) - zero) * scale;
            panel[p + 1][j] = ((float)(byte >> 4) - zero) * scale;
        }
}

/* One row of y in the columns of a panel. */
static void multiply_row(const bf16 *x, const float (*panel)[PANEL], bf16 *y, int64_t columns,
                         int64_t k)
{
    float sum[PANEL] = {0};

    for (int64_t p = 0; p < k; p++) {
        float factor = bf16_to_float(x[p]);
#pragma omp simd
        for (int j = 0; j < PANEL; j++)
            sum[j] += factor * panel[p][j];
    }
    for (int64_t j = 0; j < columns; j++)
        y[j] = float_to_bf16(sum[j]);
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    int failed = 0;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        float(*panel)[PANEL] = malloc((size_t)k * sizeof *panel);

        if (!panel) {
            failed = 1;
            continue;
        }
        dequantize(w_q + j0, scales + j0, zeros + j0, columns, n, k, group, panel);
        for (int64_t i = 0; i < m; i++)
            multiply_row(x + i * k, (const float(*)[PANEL])panel, y + i * n + j0, columns, k);
        free(panel);
    }
    return failed;
}
