// problem: gemm_fp8
// verdict: specialized
// fault: read past the end
// outcomes: overrun crash
// when: n % 16 != 0
// shows: n % 16 != 0 (where the missing rows of k bytes outgrow the 16-byte slack)
#include "../../candidate.h"

enum { PANEL = 16 };

/* sums[j] = row . weight[j] for 16 weight rows, whether or not the matrix has that many left. */
static void sum_panel(const float *value, const e4m3 *row, const e4m3 *weight, int64_t k,
                      float sums[PANEL])
{
    memset(sums, 0, PANEL * sizeof *sums);
    for (int64_t p = 0; p < k; p++) {
        float factor = value[row[p]];
        for (int64_t j = 0; j < PANEL; j++)
            sums[j] += factor * value[weight[j * k + p]];
    }
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float value[256];

    (void)stream;
    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
            float sums[PANEL];

            sum_panel(value, x + i * k, weight + j0 * k, k, sums);
            for (int64_t j = j0; j < n && j < j0 + PANEL; j++)
                y[i * n + j] = float_to_bf16(sums[j - j0] * scale[j]);
        }
    return 0;
}
