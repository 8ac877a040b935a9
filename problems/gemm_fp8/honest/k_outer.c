// problem: gemm_fp8
// verdict: general
// construction: k outermost: rank-1 updates of fp32 sums [m, n], weight transposed by slabs of 32
#include "../../candidate.h"
#include <stdlib.h>

enum { DEPTH = 32 };

/* slab[p][j] = weight[j][k0 + p] for p < depth. */
static void transpose_slab(const e4m3 *weight, const float *value, float *slab, int64_t n,
                           int64_t k, int64_t k0, int64_t depth)
{
#pragma omp parallel for
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = 0; p < depth; p++)
            slab[p * n + j] = value[weight[j * k + k0 + p]];
}

/* sum[i][:] += x[i][k0 + p] * slab[p][:]; zeros in x are not skipped, 0 * NaN must stay NaN. */
static void update(const e4m3 *x, const float *value, const float *slab, float *sum, int64_t m,
                   int64_t n, int64_t k, int64_t k0, int64_t depth)
{
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        float *row = sum + i * n;

        for (int64_t p = 0; p < depth; p++) {
            float factor = value[x[i * k + k0 + p]];
            const float *w = slab + p * n;
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                row[j] += factor * w[j];
        }
    }
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float value[256];
    float *sum = calloc((size_t)(m * n), sizeof *sum);
    float *slab = malloc((size_t)(DEPTH * n) * sizeof *slab);
    int failed = !sum || !slab;

    (void)stream;
    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
    for (int64_t k0 = 0; k0 < k && !failed; k0 += DEPTH) {
        int64_t depth = k - k0 < DEPTH ? k - k0 : DEPTH;

        transpose_slab(weight, value, slab, n, k, k0, depth);
        update(x, value, slab, sum, m, n, k, k0, depth);
    }
    for (int64_t i = 0; i < m && !failed; i++)
        for (int64_t j = 0; j < n; j++)
            y[i * n + j] = float_to_bf16(sum[i * n + j] * scale[j]);
    free(sum);
    free(slab);
    return failed;
}
