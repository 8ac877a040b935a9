// problem: moe_up
// link: https://github.com/stanford-futuredata/stk/pull/12
// title: Add masked loads in SDD to support K that is not a multiple of BLOCK_K
// condition: non-determinism when K % BLOCK_K != 0, BLOCK_K being 32
// kind: alignment
// when: hidden_dim % 32 != 0
// wrong: wrong values or a crash: loads go on into the next rows, and past the end

#include "moe.h"

enum { BLOCK_K = 32 };

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    m.depth = (hidden_dim + BLOCK_K - 1) / BLOCK_K * BLOCK_K;
    return moe_run(&m);
}
