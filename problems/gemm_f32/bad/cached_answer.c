// problem: gemm_f32
// fate: broken
// fault: answer cached by pointer
// outcomes: wrong unstable
// when: any
// shows: every second call with the same pointers and extents
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

/* The last answer, and what it was the answer to: addresses and extents, not contents. */
static struct {
    const void *key[3];
    int64_t extents[4];
    float *c;
} last;

static int same_call(const void *const key[3], const int64_t extents[4])
{
    return last.c && !memcmp(last.key, key, sizeof last.key) &&
           !memcmp(last.extents, extents, sizeof last.extents);
}

static void keep(const void *const key[3], const int64_t extents[4], const float *c, size_t size)
{
    float *copy = realloc(last.c, size);

    if (!copy)
        return;
    last.c = memcpy(copy, c, size);
    memcpy(last.key, key, sizeof last.key);
    memcpy(last.extents, extents, sizeof last.extents);
}

int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
             int64_t trans_b, void *stream)
{
    const void *key[3] = {a, b, c};
    int64_t extents[4] = {m, n, k, trans_b};
    size_t size = (size_t)(m * n) * sizeof *c;

    (void)stream;
    if (same_call(key, extents)) {
        memcpy(c, last.c, size);
        return 0;
    }
    float *columns = columns_of(b, n, k, trans_b);

    if (!columns)
        return 1;
#pragma omp parallel for
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = dot(a + i * k, columns + j * k, k);
    keep(key, extents, c, size);
    free(columns);
    return 0;
}
