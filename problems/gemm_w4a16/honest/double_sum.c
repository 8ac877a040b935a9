// problem: gemm_w4a16
// verdict: general
// construction: w exactly in fp32, products and sums in double, 16 columns at a time
#include "../../candidate.h"
#include <stdlib.h>

enum { PANEL = 16 };

/* panel[p][j] = w[p][j] for `columns` <= 16 columns: exact, a 5-bit integer times a bf16. */
static void dequantize(const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, int64_t columns,
                       int64_t n, int64_t k, int64_t group, float (*panel)[PANEL])
{
    memset(panel, 0, (size_t)k * sizeof *panel);
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < columns; j++) {
            int64_t at = p / group * n + j;
            int q = w_q[p / 2 * n + j] >> (p % 2 * 4) & 15;
            panel[p][j] = ((float)q - bf16_to_float(zeros[at])) * bf16_to_float(scales[at]);
        }
}

static void multiply_row(const bf16 *x, const float (*panel)[PANEL], bf16 *y, int64_t columns,
                         int64_t k)
{
    double sum[PANEL] = {0};

    for (int64_t p = 0; p < k; p++) {
        double factor = bf16_to_float(x[p]);
#pragma omp simd
        for (int j = 0; j < PANEL; j++)
            sum[j] += factor * panel[p][j];
    }
    for (int64_t j = 0; j < columns; j++)
        y[j] = float_to_bf16((float)sum[j]);
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
