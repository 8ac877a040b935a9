/* moe_up with switches, on the host. */
#include "honest.h"

#include "moe_up.h"

/* packed[0..1] = column `col` of one expert's weights, each of hidden_dim elements. */
static void pack(const struct moe *m, int64_t expert, int64_t col, uint16_t *packed)
{
    const int64_t at = expert * m->dim * m->inter + col;
    for (int64_t i = 0; i < m->dim; i++) {
        packed[i] = m->w_gate[at + i * m->inter];
        packed[m->dim + i] = m->w_up[at + i * m->inter];
    }
}

int moe_up(const uint16_t *hidden, const int32_t *expert_offsets, const uint16_t *w_gate,
           const uint16_t *w_up, uint16_t *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim,
           int64_t experts, void *stream)
{
    struct moe m = {{0}, honest_mutating,  hidden, w_gate,     w_up,      expert_offsets,
                    out, honest_unrounded, tokens, hidden_dim, inter_dim, experts};
    int failed = 0;
    (void)stream;
    memcpy(m.choice, honest_choice, sizeof m.choice);
#pragma omp parallel for collapse(2) schedule(dynamic) reduction(| : failed)
    for (int64_t e = 0; e < experts; e++)
        for (int64_t col = 0; col < inter_dim; col++) {
            if (expert_offsets[e] == expert_offsets[e + 1])
                continue;
            uint16_t *packed = malloc(2 * (size_t)hidden_dim * sizeof *packed);
            failed |= !packed;
            if (!packed)
                continue;
            const uint16_t *const column[2] = {packed, packed + hidden_dim};
            pack(&m, e, col, packed);
            for (int64_t row = expert_offsets[e]; row < expert_offsets[e + 1]; row++)
                moe_element(&m, e, row, col, column);
            free(packed);
        }
    return failed;
}
