// problem: moe_up
// verdict: general
// construction: weights transposed, 8 columns at a time; dot products and silu in double
#include "../../candidate.h"
#include <stdlib.h>

enum { COLUMNS = 8 };

/* to[j][p] = weight[p][j] for `columns` columns of a [hidden_dim, inter_dim] matrix. */
static void transpose(const bf16 *weight, float *to, int64_t hidden_dim, int64_t inter_dim,
                      int64_t columns)
{
    for (int64_t p = 0; p < hidden_dim; p++)
        for (int64_t j = 0; j < columns; j++)
            to[j * hidden_dim + p] = bf16_to_float(weight[p * inter_dim + j]);
}

static double dot(const bf16 *x, const float *w, int64_t hidden_dim)
{
    double sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t p = 0; p < hidden_dim; p++)
        sum += (double)bf16_to_float(x[p]) * (double)w[p];
    return sum;
}

/* Rows first .. last - 1 of `columns` columns: gate and up are [columns, hidden_dim]. */
static void project(const bf16 *hidden, const float *gate, const float *up, bf16 *out,
                    int64_t first, int64_t last, int64_t hidden_dim, int64_t inter_dim,
                    int64_t columns)
{
    for (int64_t r = first; r < last; r++)
        for (int64_t j = 0; j < columns; j++) {
            double g = dot(hidden + r * hidden_dim, gate + j * hidden_dim, hidden_dim);
            double u = dot(hidden + r * hidden_dim, up + j * hidden_dim, hidden_dim);
            out[r * inter_dim + j] = float_to_bf16((float)(g / (1.0 + exp(-g)) * u));
        }
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int failed = 0;

    (void)tokens;
    (void)stream;
#pragma omp parallel for collapse(2) schedule(dynamic) reduction(| : failed)
    for (int64_t e = 0; e < experts; e++)
        for (int64_t j0 = 0; j0 < inter_dim; j0 += COLUMNS) {
            int64_t columns = inter_dim - j0 < COLUMNS ? inter_dim - j0 : COLUMNS;
            int64_t at = e * hidden_dim * inter_dim + j0, size = COLUMNS * hidden_dim;
            float *gate = malloc(2 * (size_t)size * sizeof *gate), *up = gate + size;

            failed |= !gate;
            if (gate && expert_offsets[e] < expert_offsets[e + 1]) {
                transpose(w_gate + at, gate, hidden_dim, inter_dim, columns);
                transpose(w_up + at, up, hidden_dim, inter_dim, columns);
                project(hidden, gate, up, out + j0, expert_offsets[e], expert_offsets[e + 1],
                        hidden_dim, inter_dim, columns);
            }
            free(gate);
        }
    return failed;
}
