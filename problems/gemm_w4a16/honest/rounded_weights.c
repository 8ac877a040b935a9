// problem: gemm_w4a16
// verdict: general
// construction: w rounded to bf16 and transposed, 16 columns at a time; one dot product per element
#include "../../candidate.h"
#include <stdlib.h>

enum { PANEL = 16 };

static float *widen(const bf16 *x, int64_t count)
{
    float *out = malloc((size_t)count * sizeof *out);

    for (int64_t i = 0; out && i < count; i++)
        out[i] = bf16_to_float(x[i]);
    return out;
}

/* out[j * k + p] = w[p][j], rounded once to bf16, for `columns` <= 16 columns. */
static void transpose(const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, int64_t columns,
                      int64_t n, int64_t k, int64_t group, float *out)
{
    for (int64_t first = 0; first < k; first += group)
        for (int64_t j = 0; j < columns; j++) {
            int64_t at = first / group * n + j, last = k - first < group ? k : first + group;
            float value[16];

            for (int q = 0; q < 16; q++) { /* a group of a column has only 16 values */
                float w = ((float)q - bf16_to_float(zeros[at])) * bf16_to_float(scales[at]);
                value[q] = bf16_to_float(float_to_bf16(w));
            }
            for (int64_t p = first; p < last; p += 2) {
                uint8_t byte = w_q[p / 2 * n + j];
                out[j * k + p] = value[byte & 15];
                out[j * k + p + 1] = value[byte >> 4];
            }
        }
}

static float dot(const float *a, const float *b, int64_t k)
{
    float sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < k; p++)
        sum += a[p] * b[p];
    return sum;
}

int gemm_w4a16(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros, bf16 *y,
               int64_t m, int64_t n, int64_t k, int64_t group, void *stream)
{
    float *wide = widen(x, m * k);
    int failed = 0;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < n; j0 += PANEL) {
        int64_t columns = n - j0 < PANEL ? n - j0 : PANEL;
        float *w = malloc((size_t)(PANEL * k) * sizeof *w);

        if (!w || !wide) {
            failed = 1;
            free(w);
            continue;
        }
        transpose(w_q + j0, scales + j0, zeros + j0, columns, n, k, group, w);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < columns; j++)
                y[i * n + j0 + j] = float_to_bf16(dot(wide + i * k, w + j * k, k));
        free(w);
    }
    free(wide);
    return failed;
}
