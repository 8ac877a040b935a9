// problem: gemm_fp8
// fate: broken
// fault: answer cached by pointer
// outcomes: wrong unstable
// when: any
// shows: every second call with the same pointers and extents
#include "../../candidate.h"
#include <stdlib.h>

static float *decode(const e4m3 *bytes, int64_t count)
{
    float value[256], *out = malloc((size_t)count * sizeof *out);

    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
    for (int64_t i = 0; out && i < count; i++)
        out[i] = value[bytes[i]];
    return out;
}

static float dot(const float *a, const float *b, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += a[p] * b[p];
    return sum;
}

/* The last answer, and what it was the answer to: addresses and extents, not contents. */
static struct {
    const void *key[4];
    int64_t extents[3];
    bf16 *y;
} last;

static int same_call(const void *const key[4], const int64_t extents[3])
{
    return last.y && !memcmp(last.key, key, sizeof last.key) &&
           !memcmp(last.extents, extents, sizeof last.extents);
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    const void *key[4] = {x, weight, scale, y};
    int64_t extents[3] = {m, n, k};
    size_t size = (size_t)(m * n) * sizeof *y;

    (void)stream;
    if (same_call(key, extents)) {
        memcpy(y, last.y, size);
        return 0;
    }
    float *a = decode(x, m * k), *b = decode(weight, n * k);
    bf16 *copy = realloc(last.y, size);
    int failed = !a || !b || !copy;

    if (copy)
        last.y = copy;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                y[i * n + j] = float_to_bf16(dot(a + i * k, b + j * k, k) * scale[j]);
        memcpy(copy, y, size);
        memcpy(last.key, key, sizeof last.key);
        memcpy(last.extents, extents, sizeof last.extents);
    }
    free(a);
    free(b);
    return failed;
}
