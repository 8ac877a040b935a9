// problem: moe_up
// verdict: general
// construction: token by token; the weights of its expert, found by bisection, are read as bf16
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

/* The last expert that starts at `row` or before: offsets[e] <= row < offsets[e + 1]. */
static int64_t expert_of(const int32_t *offsets, int64_t experts, int64_t row)
{
    int64_t low = 0, high = experts;

    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (offsets[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int failed = 0;

    (void)stream;
#pragma omp parallel reduction(| : failed)
    {
        float *gate = malloc(2 * (size_t)inter_dim * sizeof *gate), *up = gate + inter_dim;

        failed = !gate;
#pragma omp for
        for (int64_t r = 0; r < tokens; r++) {
            int64_t at = expert_of(expert_offsets, experts, r) * hidden_dim * inter_dim;
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
