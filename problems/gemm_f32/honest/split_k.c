// problem: gemm_f32
// verdict: general
// construction: k cut into four slices, one OpenMP task each with its own fp32 partial sums, merged
// in order
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

enum { SLICES = 4 };

/* part [m, n] = the sums over first <= p < last. */
static void sum_slice(const float *rows, const float *columns, float *part, int64_t m, int64_t n,
                      int64_t k, int64_t first, int64_t last)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            part[i * n + j] = dot(rows + i * k + first, columns + j * k + first, last - first);
}

static void merge(const float *part, float *c, int64_t count)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        float sum = 0;
        for (int64_t s = 0; s < SLICES; s++)
            sum += part[s * count + i];
        c[i] = sum;
    }
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    const float *rows = a;
    float *columns = columns_of(b, n, k, trans_b);
    float *part = malloc((size_t)(SLICES * m * n) * sizeof *part);
    int failed = !part || !columns;

    (void)stream;
    if (!failed) {
#pragma omp parallel
#pragma omp single
        for (int64_t s = 0; s < SLICES; s++) {
#pragma omp task
            sum_slice(rows, columns, part + s * m * n, m, n, k, k * s / SLICES,
                      k * (s + 1) / SLICES);
        }
        merge(part, c, m * n);
    }
    free(columns);
    free(part);
    return failed;
}
