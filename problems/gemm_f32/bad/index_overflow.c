// problem: gemm_f32
// fate: specialized
// fault: 16-bit index overflow
// outcomes: wrong
// when: k > 1040 and (n - 1) * k > 65535
#include "../../candidate.h"
#include <stdlib.h>

/* out[j][p] = b[p][j] as fp32, whichever way b lies. */
static float *columns_of(const float *b, int64_t n, int64_t k, int64_t trans_b)
{
    float *out = malloc((size_t)(n * k) * sizeof *out);

    for (int64_t j = 0; out && j < n; j++)
        for (int64_t p = 0; p < k; p++)
            out[j * k + p] = b[trans_b ? j * k + p : p * n + j];
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

enum { PANEL = 64 };

/* Column j in panels of 64 columns; its offset there is 16-bit: enough for 63 x 1040. */
static const float *column(const float *columns, int64_t j, int64_t k)
{
    uint16_t offset = (uint16_t)(j % PANEL * k);

    return columns + j / PANEL * PANEL * k + offset;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    float *columns = columns_of(b, n, k, trans_b);

    (void)stream;
    if (!columns)
        return 1;
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = dot(a + i * k, column(columns, j, k), k);
    free(columns);
    return 0;
}
