// problem: moe_up
// link: https://github.com/sgl-project/sglang/pull/6919
// title: [sgl-kernel] Add cuda kernel for moe_ep_silu_and_mul
// condition: tail elements when the hidden size is not divisible by the vector's
// kind: alignment
// when: inter_dim % 8 != 0
// wrong: unwritten: only whole vectors of 8 are stored

#include "moe.h"

enum { VECTOR = 8 };

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    m.columns = inter_dim / VECTOR * VECTOR;
    return moe_run(&m);
}
