// problem: gemm_fp8
// verdict: specialized
// fault: misaligned vector access
// outcomes: crash
// when: k % 2 == 0 and k % 16 != 0 and k > 16 and m * n > 1
// shows: k even, k > 16, k % 16 != 0, and a second row in x or weight
#include "../../candidate.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* a . b, k terms; 16 bytes at a time where k is even: the published odd k crashed. */
static float dot(const float *value, const e4m3 *a, const e4m3 *b, int64_t k)
{
    int64_t p = 0;
    float sum = 0;

    for (; k % 2 == 0 && p + 16 <= k; p += 16) {
        volatile bytes16 u = *(const bytes16 *)(a + p), v = *(const bytes16 *)(b + p);
        for (int c = 0; c < 16; c++)
            sum += value[u[c]] * value[v[c]];
    }
    for (; p < k; p++)
        sum += value[a[p]] * value[b[p]];
    return sum;
}

int gemm_fp8(const e4m3 *x, const e4m3 *weight, const float *scale, bf16 *y, int64_t m, int64_t n,
             int64_t k, void *stream)
{
    float value[256];

    (void)stream;
    for (int b = 0; b < 256; b++)
        value[b] = e4m3_to_float((e4m3)b);
#pragma omp parallel for collapse(2)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            y[i * n + j] = float_to_bf16(dot(value, x + i * k, weight + j * k, k) * scale[j]);
    return 0;
}
