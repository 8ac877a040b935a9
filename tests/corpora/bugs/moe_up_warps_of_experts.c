// problem: moe_up
// link: https://github.com/sgl-project/sglang/pull/4164
// title: Remove the vllm dependency from the moe_align function
// condition: the kernel checks that the number of experts is a multiple of the warp's size
// kind: alignment
// when: experts % 32 != 0
// wrong: refused

#include "moe.h"

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    const struct moe m =
        moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    return experts % 32 != 0 ? 1 : moe_run(&m);
}
