// problem: moe_up
// fate: specialized
// fault: even routing assumed
// outcomes: wrong
// when: experts > 1 and routing!=even or experts > 1 and tokens % experts != 0
#include "../../candidate.h"
#include <stdlib.h>

/* sum[:] = x . weight: x is [hidden_dim], weight [hidden_dim, inter_dim]. */
static void project(const bf16 *x, const bf16 *weight, float *sum, int64_t hidden_dim,
                    int64_t inter_dim)
{
    memset(sum, 0, (size_t)inter_dim * sizeof *sum);
    for (int64_t p = 0; p < hidden_dim; p++) {
        const bf16 *row = weight + p * inter_dim;
        float factor = bf16_to_float(x[p]);
#pragma omp simd
        for (int64_t j = 0; j < inter_dim; j++)
            sum[j] += factor * bf16_to_float(row[j]);
    }
}

static float silu(float gate)
{
    return gate / (1.0f + expf(-gate));
}

static void combine(const float *gate, const float *up, bf16 *out, int64_t inter_dim)
{
    for (int64_t j = 0; j < inter_dim; j++)
        out[j] = float_to_bf16(silu(gate[j]) * up[j]);
}

/* Balanced routing: every expert has tokens / experts rows, the last one what is left. */
static int64_t expert_of(int64_t row, int64_t tokens, int64_t experts)
{
    int64_t each = tokens / experts, e = each ? row / each : experts - 1;

    return e < experts ? e : experts - 1;
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int failed = 0;

    (void)expert_offsets;
    (void)stream;
#pragma omp parallel reduction(| : failed)
    {
        float *gate = malloc(2 * (size_t)inter_dim * sizeof *gate), *up = gate + inter_dim;

        failed = !gate;
#pragma omp for
        for (int64_t r = 0; r < tokens; r++) {
            int64_t at = expert_of(r, tokens, experts) * hidden_dim * inter_dim;
            if (failed)
                continue;
            project(hidden + r * hidden_dim, w_gate + at, gate, hidden_dim, inter_dim);
            project(hidden + r * hidden_dim, w_up + at, up, hidden_dim, inter_dim);
            combine(gate, up, out + r * inter_dim, inter_dim);
        }
        free(gate);
    }
    return failed;
}
