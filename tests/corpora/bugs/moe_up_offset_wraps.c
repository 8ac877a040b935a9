// problem: moe_up
// link: https://github.com/databricks/megablocks/pull/185
// title: Fix int32 overflow in Triton _padded_copy pointer arithmetic
// condition: offset * NUM_COLUMNS exceeds 2^31: 524288 tokens of 4096 columns; sized down to 2^20
// kind: overflow
// when: (tokens - 1) * hidden_dim >= 1048576
// wrong: out of bounds: the product wraps to a negative offset

#include "moe.h"

/* The product in a signed integer of 21 bits. */
static int64_t wrapped_row(const struct moe *m, int64_t token)
{
    return (int64_t)((uint64_t)(token * m->hidden_dim) << 43) >> 43;
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    m.row = wrapped_row;
    return moe_run(&m);
}
