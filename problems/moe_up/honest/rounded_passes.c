// problem: moe_up
// verdict: general
// construction: for every expert one pass for gates, one for ups, its weights converted to fp32
// before; both results are kept in bf16 and combined in a last pass
#include "../../candidate.h"
#include <stdlib.h>

/* Two rows of x at a time: sum[0..1][:] += x[0..1][p] * weight[p][:] over all p. */
static void multiply_rows(const bf16 *x0, const bf16 *x1, const float *weight, float *sum0,
                          float *sum1, int64_t hidden_dim, int64_t inter_dim)
{
    memset(sum0, 0, (size_t)inter_dim * sizeof *sum0);
    memset(sum1, 0, (size_t)inter_dim * sizeof *sum1);
    for (int64_t p = 0; p < hidden_dim; p++) {
        float factor0 = bf16_to_float(x0[p]), factor1 = bf16_to_float(x1[p]);
        const float *row = weight + p * inter_dim;
#pragma omp simd
        for (int64_t j = 0; j < inter_dim; j++) {
            sum0[j] += factor0 * row[j];
            sum1[j] += factor1 * row[j];
        }
    }
}

/* result = x . weights for the `rows` rows of one expert; space: the weights in fp32, two sums. */
static void pass(const bf16 *x, const bf16 *weights, bf16 *result, float *space, int64_t rows,
                 int64_t hidden_dim, int64_t inter_dim)
{
    int64_t size = hidden_dim * inter_dim;
    float *sum0 = space + size, *sum1 = sum0 + inter_dim;

    for (int64_t i = 0; i < size; i++)
        space[i] = bf16_to_float(weights[i]);
    for (int64_t r = 0; r < rows; r += 2) {
        int64_t second = r + 1 < rows ? r + 1 : r; /* an odd last row goes with itself */
        multiply_rows(x + r * hidden_dim, x + second * hidden_dim, space, sum0, sum1, hidden_dim,
                      inter_dim);
        for (int64_t j = 0; j < inter_dim; j++) {
            result[r * inter_dim + j] = float_to_bf16(sum0[j]);
            result[second * inter_dim + j] = float_to_bf16(sum1[j]);
        }
    }
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int64_t size = hidden_dim * inter_dim;
    bf16 *gate = malloc((size_t)(tokens * inter_dim) * sizeof *gate);
    int failed = !gate;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t e = 0; e < experts; e++) {
        int64_t first = expert_offsets[e], rows = expert_offsets[e + 1] - first;
        float *space = malloc((size_t)(size + 2 * inter_dim) * sizeof *space);
        int64_t at = first * inter_dim;
        const bf16 *x = hidden + first * hidden_dim;

        failed |= !space;
        if (space && gate && rows > 0) {
            pass(x, w_gate + e * size, gate + at, space, rows, hidden_dim, inter_dim);
            pass(x, w_up + e * size, out + at, space, rows, hidden_dim, inter_dim);
        }
        free(space);
    }
    for (int64_t i = 0; i < tokens * inter_dim && !failed; i++) {
        float g = bf16_to_float(gate[i]);
        out[i] = float_to_bf16(g / (1.0f + expf(-g)) * bf16_to_float(out[i]));
    }
    free(gate);
    return failed;
}
