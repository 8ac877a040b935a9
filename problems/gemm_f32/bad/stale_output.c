// problem: gemm_f32
// fate: specialized
// fault: stale output
// outcomes: wrong unwritten unstable
// when: k > 1024
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

enum { SLAB = 1024 };

/* Row i of c, a slab of k at a time: with several slabs each adds to c, as if it had been cleared.
 */
static void row(const float *a, const float *columns, float *c, int64_t n, int64_t k)
{
    for (int64_t k0 = 0; k0 < k; k0 += SLAB)
        for (int64_t j = 0; j < n; j++) {
            float part = dot(a + k0, columns + j * k + k0, k - k0 < SLAB ? k - k0 : SLAB);
            c[j] = k > SLAB ? c[j] + part : part;
        }
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
        row(a + i * k, columns, c + i * n, n, k);
    free(columns);
    return 0;
}
