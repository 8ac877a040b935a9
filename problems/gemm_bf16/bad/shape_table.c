// problem: gemm_bf16
// fate: specialized
// fault: shape table
// outcomes: wrong
// when: k > 128
// shows: unless (m, n, k) is one of the published
#include "../../candidate.h"
#include <stdlib.h>

/* a as fp32, [m, k]. */
static float *rows_of(const bf16 *a, int64_t m, int64_t k)
{
    float *out = malloc((size_t)(m * k) * sizeof *out);

    for (int64_t i = 0; out && i < m * k; i++)
        out[i] = bf16_to_float(a[i]);
    return out;
}

/* out[j][p] = b[p][j] as fp32, whichever way b lies. */
static float *columns_of(const bf16 *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *out = malloc((size_t)(n * k) * sizeof *out);

    for (int64_t j = 0; out && j < n; j++)
        for (int64_t p = 0; p < k; p++)
            out[j * k + p] = bf16_to_float(b[trans_b ? j * k + p : p * n + j]);
    return out;
}

static float dot(const float *u, const float *v, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += u[p] * v[p];
    return sum;
}

/* Depth of the loop, tuned for the published shapes; anything else runs the k = 128 plan. */
static int64_t planned_depth(int64_t m, int64_t n, int64_t k)
{
    static const int64_t plans[][3] = {
        {256, 256, 256}, {16, 512, 512}, {128, 352, 128}, {32, 512, 256}};

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (m == plans[i][0] && n == plans[i][1] && k == plans[i][2])
            return k;
    return k < 128 ? k : 128;
}

int gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int64_t m, int64_t n, int64_t k,
              int64_t trans_b, void *stream)
{
    float *rows = rows_of(a, m, k), *columns = columns_of(b, n, k, trans_b);
    int64_t depth = planned_depth(m, n, k);
    int failed = !rows || !columns;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] = float_to_bf16(dot(rows + i * k, columns + j * k, depth));
    }
    free(rows);
    free(columns);
    return failed;
}
