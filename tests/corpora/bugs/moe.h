/* The up-projection of experts, for candidates that differ from an honest one in a step. */
#include <stdlib.h>

#include "../../../problems/candidate.h"

enum { PANEL = 16 };

struct moe {
    const bf16 *hidden, *w_gate, *w_up;
    const int32_t *offsets;
    bf16 *out;
    int64_t tokens, hidden_dim, inter_dim, experts;
    int64_t depth;                                      /* terms of a sum: hidden_dim, if nothing is wrong */
    int64_t columns;                                    /* that are computed: inter_dim */
    int64_t (*row)(const struct moe *m, int64_t token); /* where a token's row begins in hidden */
};

static int64_t moe_row(const struct moe *m, int64_t token)
{
    return token * m->hidden_dim;
}

static inline float silu(float gate)
{
    return gate / (1.0f + expf(-gate));
}

/* Columns j0 .. j0 + 15 of rows first .. last - 1, with the weights of an expert. */
static void moe_panel(const struct moe *m, int64_t expert, int64_t first, int64_t last, int64_t j0)
{
    const int64_t columns = m->columns - j0 < PANEL ? m->columns - j0 : PANEL;
    const int64_t at = expert * m->hidden_dim * m->inter_dim + j0;
    for (int64_t r = first; r < last; r++) {
        const bf16 *x = m->hidden + m->row(m, r);
        float gate[PANEL] = {0}, up[PANEL] = {0};
        for (int64_t p = 0; p < m->depth; p++) {
            const float value = bf16_to_float(x[p]);
            const bf16 *g = m->w_gate + at + p * m->inter_dim, *u = m->w_up + at + p * m->inter_dim;
            for (int64_t j = 0; j < columns; j++) {
                gate[j] += value * bf16_to_float(g[j]);
                up[j] += value * bf16_to_float(u[j]);
            }
        }
        for (int64_t j = 0; j < columns; j++)
            m->out[r * m->inter_dim + j0 + j] = float_to_bf16(silu(gate[j]) * up[j]);
    }
}

static void moe_rows(const struct moe *m, int64_t expert, int64_t first, int64_t last)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t j0 = 0; j0 < m->columns; j0 += PANEL)
        moe_panel(m, expert, first, last, j0);
}

static inline int moe_run(const struct moe *m)
{
    for (int64_t e = 0; e < m->experts; e++)
        moe_rows(m, e, m->offsets[e], m->offsets[e + 1]);
    return 0;
}

static inline struct moe moe_of(const bf16 *hidden, const int32_t *offsets, const bf16 *w_gate,
                                const bf16 *w_up, bf16 *out, int64_t tokens, int64_t hidden_dim,
                                int64_t inter_dim, int64_t experts)
{
    return (struct moe){hidden,     w_gate,    w_up,    offsets,    out,       tokens,
                        hidden_dim, inter_dim, experts, hidden_dim, inter_dim, moe_row};
}
