// problem: moe_up
// link: https://github.com/huggingface/kernels-community/issues/1153
// title: finegrained-fp8: grouped matmul writes past N and reads past N/K (wrong results on ordinary expert shapes)
// condition: output columns that a tile of 64 does not divide: tiles have bounds of rows alone
// kind: alignment
// when: inter_dim % 64 != 0
// collection: second
// wrong: out of bounds: a tile's columns past the row's end are stored over the begin of the next row

#include "moe.h"

enum { TILE = 64 };

/* Columns past the end have no weights, and their sums are 0. */
static void store_overhang(const struct moe *m, int64_t expert)
{
    for (int64_t r = m->offsets[expert]; r < m->offsets[expert + 1]; r++)
        for (int64_t j = m->inter_dim; j % TILE != 0; j++)
            m->out[r * m->inter_dim + j] = 0;
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    const int failed = moe_run(&m);
    (void)stream;
#ifndef FIXED
    for (int64_t e = 0; e < experts; e++) /* the last tiles of a row are stored last */
        store_overhang(&m, e);
#endif
    return failed;
}
