// problem: moe_up
// thread: https://github.com/vllm-project/vllm/pull/21229
// title: [Feature][Kernel]FusedMoE LoRA
// condition: the number of experts is hardcoded to 64
// kind: threshold
// when: experts > 64
// side: necessary
// wrong: unwritten: tiles of later experts return

#include "moe.cuh"

static constexpr int64_t EXPERTS = 64; /* the number among which a block looks up its tile */

extern "C" int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
                      bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    m.experts = experts < EXPERTS ? experts : EXPERTS;
    return moe_run<honest>(m, stream);
}
