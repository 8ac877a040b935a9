// problem: gemm_w4a16
// verdict: specialized
// fault: race
// outcomes: wrong unstable
// when: n < 4096 and k > 2
#include "../../candidate.h"
#include <stdlib.h>

enum { PANEL = 32 };

struct slice {
    int64_t first, last; /* rows of w, both even */
};

/* panel[p - first][j] = w[p][j] for `columns` <= 32 columns; the other lanes are zero. */
static void dequantize(const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, int64_t columns,
                       int64_t n, int64_t group, struct slice s, float (*panel)[PANEL])
{
    memset(panel, 0, (size_t)(s.last - s.first) * sizeof *panel);
    for (int64_t p = s.first; p < s.last; p += 2)
        for (int64_t j = 0; j < columns; j++) {
            uint8_t byte = w_q[p / 2 * n + j];
            float scale = bf16_to_float(scales[p / group * n + j]);
            float zero = bf16_to_float(zeros[p / group * n + j]);
            panel[p - s.first][j] = ((float)(byte & 15) - zero) * scale;
            panel[p + 1 - s.first][j] = ((float)(byte >> 4) - zero) * scale;
        }
}

/* One row of the sums in the columns of a panel: the first slice stores, the second adds. */
static void multiply_row(const bf16 *x, const float (*panel)[PANEL], float *out, int64_t columns,
                         struct slice s)
{
    float sum[PANEL] = {0};

    for (int64_t p = s.first; p < s.last; p++) {
        float factor = bf16_to_float(x[p]);
#pragma omp simd
        for (int j = 0; j < PANEL; j++)
            sum[j] += factor * panel[p - s.first][j];
    }
    for (int64_t j = 0; j < columns; j++)
        out[j] = s.first == 0 ? sum[j] : out[j] + sum[j];
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    int64_t panels = (n + PANEL - 1) / PANEL, slices = n < 4096 && k > 2 ? 2 : 1;
    float(*panel)[PANEL] = malloc(2 * (size_t)k * sizeof *panel);
    float *sums = calloc((size_t)(m * n), sizeof *sums);
    int failed = !panel || !sums;

    (void)stream;
    /* few columns: k is cut in two, a thread each; nothing orders the two threads' additions */
#pragma omp parallel for num_threads(2) schedule(static)
    for (int64_t t = 0; t < slices * panels; t++) {
        int64_t cut = k / 4 * 2, second = t >= panels, half = t >= (slices * panels + 1) / 2;
        int64_t j0 = (second ? slices * panels - 1 - t : t) * PANEL;
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        struct slice s = {second ? cut : 0, slices == 2 && !second ? cut : k};

        if (failed)
            continue;
        dequantize(w_q + j0, scales + j0, zeros + j0, columns, n, group, s, panel + half * k);
        for (int64_t i = 0; i < m; i++)
            multiply_row(x + i * k, (const float(*)[PANEL])(panel + half * k), sums + i * n + j0,
                         columns, s);
    }
    for (int64_t i = 0; !failed && i < m * n; i++)
        y[i] = float_to_bf16(sums[i]);
    free(panel);
    free(sums);
    return failed;
}
