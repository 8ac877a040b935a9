// problem: gemm_f32
// verdict: general
// construction: Kahan-compensated fp32 sums, 16 columns in the lanes of a vector; infinite sums
// again, plainly
#include "../../candidate.h"
#include <stdlib.h>

enum { LANES = 16 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* panel[p][j] = b[p][j0 + j]; lanes past `columns` are zero. */
static void pack_panel(const float *b, int64_t j0, int64_t columns, int64_t n, int64_t k,
                       int64_t trans_b, vec *panel)
{
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < LANES; j++) {
            int64_t at = trans_b ? (j0 + j) * k + p : p * n + j0 + j;
            panel[p][j] = j < columns ? b[at] : 0.0f;
        }
}

/* sums = row . panel, each lane with its own compensation. */
static void compensated(const float *row, const vec *panel, int64_t k, vec *sums)
{
    vec sum = {0}, lost = {0};

    for (int64_t p = 0; p < k; p++) {
        vec term = row[p] * panel[p] - lost;
        vec next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    *sums = sum;
}

/* The compensation of an infinite sum is inf - inf: such a lane, NaN by now, is summed without. */
static float plain(const float *row, const vec *panel, int64_t k, int64_t lane)
{
    float sum = 0;

    for (int64_t p = 0; p < k; p++)
        sum += row[p] * panel[p][lane];
    return sum;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    int failed = 0;

    (void)stream;
#pragma omp parallel for reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += LANES) {
        int64_t columns = n - j0 < LANES ? n - j0 : LANES;
        vec sums, *panel = aligned_alloc(sizeof(vec), (size_t)k * sizeof(vec));

        failed |= !panel;
        if (!panel)
            continue;
        pack_panel(b, j0, columns, n, k, trans_b, panel);
        for (int64_t i = 0; i < m; i++) {
            compensated(a + i * k, panel, k, &sums);
            for (int64_t j = 0; j < columns; j++) {
                float sum = isfinite(sums[j]) ? sums[j] : plain(a + i * k, panel, k, j);
                c[i * n + j0 + j] = sum;
            }
        }
        free(panel);
    }
    return failed;
}
