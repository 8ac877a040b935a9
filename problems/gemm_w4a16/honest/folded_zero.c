// problem: gemm_w4a16
// verdict: general
// construction: sums of x * q over a group of integer codes; scale and zero applied once per group
#include "../../candidate.h"
#include <stdlib.h>

enum { PANEL = 32, MOST = 128 };

/* codes[p][j] = q[p][j] of one group in `columns` <= 32 columns; the other lanes are zero. */
static void unpack(const uint8_t *w_q, int64_t columns, int64_t n, int64_t depth,
                   float codes[MOST][PANEL])
{
    memset(codes, 0, MOST * sizeof *codes);
    for (int64_t p = 0; p < depth; p += 2)
        for (int64_t j = 0; j < columns; j++) {
            codes[p][j] = (float)(w_q[p / 2 * n + j] & 15);
            codes[p + 1][j] = (float)(w_q[p / 2 * n + j] >> 4);
        }
}

/* total[j] += scale[j] * (sum_p x[p] q[p][j] - zero[j] * sum_p x[p]), p over one group */
static void add_group(const bf16 *x, const float codes[MOST][PANEL], const float *scale,
                      const float *zero, int64_t depth, float *total)
{
    float sum[PANEL] = {0}, plain = 0;

    for (int64_t p = 0; p < depth; p++) {
        float factor = bf16_to_float(x[p]);
        plain += factor;
#pragma omp simd
        for (int j = 0; j < PANEL; j++)
            sum[j] += factor * codes[p][j];
    }
#pragma omp simd
    for (int j = 0; j < PANEL; j++)
        total[j] += scale[j] * (sum[j] - zero[j] * plain);
}

/* All rows of one panel of columns; total is [m][32], cleared. */
static void multiply_panel(const bf16 *x, const uint8_t *w_q, const bf16 *scales,
                           const bf16 *zeros, float (*total)[PANEL], int64_t m, int64_t columns,
                           int64_t n, int64_t k, int64_t group)
{
    float codes[MOST][PANEL], scale[PANEL] = {0}, zero[PANEL] = {0};

    for (int64_t first = 0; first < k; first += group) {
        int64_t depth = k - first < group ? k - first : group;

        for (int64_t j = 0; j < columns; j++) {
            scale[j] = bf16_to_float(scales[first / group * n + j]);
            zero[j] = bf16_to_float(zeros[first / group * n + j]);
        }
        unpack(w_q + first / 2 * n, columns, n, depth, codes);
        for (int64_t i = 0; i < m; i++)
            add_group(x + i * k + first, (const float(*)[PANEL])codes, scale, zero, depth,
                      total[i]);
    }
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    int failed = 0;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        float(*total)[PANEL] = calloc((size_t)m, sizeof *total);

        if (!total) {
            failed = 1;
            continue;
        }
        multiply_panel(x, w_q + j0, scales + j0, zeros + j0, total, m, columns, n, k, group);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < columns; j++)
                y[i * n + j0 + j] = float_to_bf16(total[i][j]);
        free(total);
    }
    return failed;
}
