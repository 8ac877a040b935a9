// problem: moe_up
// link: https://github.com/NVIDIA/TileGym/pull/24
// title: Fix: moe_align_block_size() supports non-power-of-2 num_experts
// condition: a number of experts that is no power of two is not supported
// kind: power of two
// when: experts != 1 and experts != 2 and experts != 4 and experts != 8 and experts != 16 and experts != 32 and experts != 64 and experts != 128 and experts != 256
// wrong: refused: a range of lanes must have a power of two of them

#include "moe.h"

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    const struct moe m =
        moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    return (experts & (experts - 1)) != 0 ? 1 : moe_run(&m);
}
