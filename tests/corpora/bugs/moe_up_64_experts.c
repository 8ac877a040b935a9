// problem: moe_up
// link: https://github.com/vllm-project/vllm/pull/21229
// title: [Feature][Kernel]FusedMoE LoRA
// condition: the number of experts is hardcoded to 64
// kind: threshold
// when: experts > 64
// side: necessary
// wrong: unwritten: tiles of later experts return

#include "moe.h"

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    m.experts = experts < 64 ? experts : 64;
    return moe_run(&m);
}
