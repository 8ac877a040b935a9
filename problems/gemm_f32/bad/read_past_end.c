// problem: gemm_f32
// fate: specialized
// fault: read past the end
// outcomes: wrong unwritten overrun crash
// when: k % 8 != 0
#include "../../candidate.h"
#include <stdlib.h>

/* out[j][p] = b[p][j] as fp32, whichever way b lies; rows of `pitch`, zero from k on. */
static float *columns_of(const float *b, int64_t n, int64_t k, int64_t pitch, int64_t trans_b)
{
    float *out = calloc((size_t)(n * pitch), sizeof *out);

    for (int64_t j = 0; out && j < n; j++)
        for (int64_t p = 0; p < k; p++)
            out[j * pitch + p] = b[trans_b ? j * k + p : p * n + j];
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

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    int64_t pitch = (k + 7) / 8 * 8; /* whole vectors; past k there is only 0 * something */
    float *columns = columns_of(b, n, k, pitch, trans_b);

    (void)stream;
    if (!columns)
        return 1;
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = dot(a + i * k, columns + j * pitch, pitch);
    free(columns);
    return 0;
}
