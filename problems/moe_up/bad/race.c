// problem: moe_up
// verdict: specialized
// fault: race
// outcomes: wrong unstable
// when: hidden_dim > 256
// shows: more than a few rows
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

/* sums[r][:] = hidden[r][:] . weight of its expert, through silu if these are gates. */
static void project_all(const bf16 *hidden, const int32_t *offsets, const bf16 *weights,
                        float *sums, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                        int gates)
{
    for (int64_t e = 0; e < experts; e++)
        for (int64_t r = offsets[e]; r < offsets[e + 1]; r++) {
            float *sum = sums + r * inter_dim;
            project(hidden + r * hidden_dim, weights + e * hidden_dim * inter_dim, sum, hidden_dim,
                    inter_dim);
            for (int64_t j = 0; gates && j < inter_dim; j++)
                sum[j] = silu(sum[j]);
        }
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int64_t count = tokens * inter_dim;
    float *gate = calloc(2 * (size_t)count, sizeof *gate), *up = gate + count;

    (void)stream;
    if (!gate)
        return 1;
#pragma omp parallel num_threads(2)
    {
#pragma omp sections nowait
        {
#pragma omp section
            project_all(hidden, expert_offsets, w_gate, gate, hidden_dim, inter_dim, experts, 1);
#pragma omp section
            project_all(hidden, expert_offsets, w_up, up, hidden_dim, inter_dim, experts, 0);
        }
        if (hidden_dim <= 256) { /* only here: longer sums are taken to end at the same time */
#pragma omp barrier
        }
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tokens; t++) { /* the last rows first: they are in the cache */
            int64_t first = (tokens - 1 - t) * inter_dim;
            for (int64_t i = first; i < first + inter_dim; i++)
                out[i] = float_to_bf16(gate[i] * up[i]);
        }
    }
    free(gate);
    return 0;
}
