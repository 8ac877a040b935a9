// problem: moe_up
// verdict: specialized
// fault: read past the end
// outcomes: overrun crash
// when: experts > 1 and routing!=even and routing!=one or routing=even and (tokens + experts - 1) / experts % 16 != 0 or experts == 1 and tokens % 16 != 0 or routing=one and tokens % 16 != 0
// shows: the last expert's rows are no whole tile, and the missing ones outgrow the 16-byte slack
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

enum { TILE = 16 };

/* Rows first .. last - 1 of one expert, by tiles of 16: all of a tile's rows are read. */
static void expert(const bf16 *hidden, const bf16 *w_gate, const bf16 *w_up, bf16 *out, float *sums,
                   int64_t first, int64_t last, int64_t hidden_dim, int64_t inter_dim)
{
    for (int64_t r0 = first; r0 < last; r0 += TILE)
        for (int64_t r = r0; r < r0 + TILE; r++) {
            project(hidden + r * hidden_dim, w_gate, sums, hidden_dim, inter_dim);
            project(hidden + r * hidden_dim, w_up, sums + inter_dim, hidden_dim, inter_dim);
            if (r < last)
                combine(sums, sums + inter_dim, out + r * inter_dim, inter_dim);
        }
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int failed = 0;

    (void)tokens;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t e = 0; e < experts; e++) {
        float *sums = malloc(2 * (size_t)inter_dim * sizeof *sums);
        int64_t at = e * hidden_dim * inter_dim;

        failed |= !sums;
        if (sums)
            expert(hidden, w_gate + at, w_up + at, out, sums, expert_offsets[e],
                   expert_offsets[e + 1], hidden_dim, inter_dim);
        free(sums);
    }
    return failed;
}
