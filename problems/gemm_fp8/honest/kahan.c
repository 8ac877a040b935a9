// problem: gemm_fp8
// verdict: general
// construction: Kahan-compensated fp32 sums, 16 columns in the lanes of one vector
#include "../../candidate.h"
#include <stdlib.h>

enum { LANES = 16 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* panel[p][j] = weight[j][p]; lanes past `columns` are zero. */
static void decode_panel(const e4m3 *weight, const float *value, int64_t columns, int64_t k,
                         float *panel)
{
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < LANES; j++)
            panel[p * LANES + j] = j < columns ? value[weight[j * k + p]] : 0.0f;
}

/* sums = row . panel, each lane with its own compensation (finite sums: below 2^32). */
static void compensated(const e4m3 *row, const float *value, const vec *panel, int64_t k, vec *sums)
{
    vec sum = {0}, lost = {0};

    for (int64_t p = 0; p < k; p++) {
        vec term = value[row[p]] * panel[p] - lost;
        vec next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    *sums = sum;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float value[256];
    int failed = 0;

    (void)stream;
    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
#pragma omp parallel for reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += LANES) {
        int64_t columns = n - j0 < LANES ? n - j0 : LANES;
        vec sums, *panel = aligned_alloc(sizeof(vec), (size_t)k * sizeof(vec));

        failed |= !panel;
        if (!panel)
            continue;
        decode_panel(weight + j0 * k, value, columns, k, (float *)panel);
        for (int64_t i = 0; i < m; i++) {
            compensated(x + i * k, value, panel, k, &sums);
            for (int64_t j = 0; j < columns; j++)
                y[i * n + j0 + j] = float_to_bf16(sums[j] * scale[j0 + j]);
        }
        free(panel);
    }
    return failed;
}
