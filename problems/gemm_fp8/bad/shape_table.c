// problem: gemm_fp8
// fate: specialized
// fault: shape table
// outcomes: wrong
// when: k > 256 and k != 287 and k != 512 or k == 287 and m != 256 or k == 287 and n != 256 or k == 512 and m != 32 or k == 512 and n != 512
// shows: k > 256, unless (m, n, k) is one of the published four
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

/* Depth of the loop, tuned for the published shapes; anything else runs the k = 256 plan. */
static int64_t planned_depth(int64_t m, int64_t n, int64_t k)
{
    static const int64_t plans[4][3] = {
        {256, 256, 256}, {256, 256, 287}, {32, 512, 512}, {256, 896, 256}};

    for (int i = 0; i < 4; i++)
        if (m == plans[i][0] && n == plans[i][1] && k == plans[i][2])
            return plans[i][2];
    return k < 256 ? k : 256;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float *a = decode(x, m * k), *b = decode(weight, n * k);
    int64_t depth = planned_depth(m, n, k);
    int failed = !a || !b;

    (void)stream;
    if (!failed) {
#pragma omp parallel for
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                y[i * n + j] = float_to_bf16(dot(a + i * k, b + j * k, depth) * scale[j]);
    }
    free(a);
    free(b);
    return failed;
}
