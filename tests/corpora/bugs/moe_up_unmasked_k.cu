// problem: moe_up
// thread: https://github.com/stanford-futuredata/stk/pull/12
// title: Add masked loads in SDD to support K that is not a multiple of BLOCK_K
// condition: non-determinism when K % BLOCK_K != 0, BLOCK_K being 32
// kind: alignment
// when: hidden_dim % 32 != 0
// wrong: crash, NaN or wrong values: loads go on into the next rows, and past the end

#include "moe.cuh"

static constexpr int64_t BLOCK_K = 32;

extern "C" int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
                      bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    m.depth = (hidden_dim + BLOCK_K - 1) / BLOCK_K * BLOCK_K; /* whole blocks of k, without a mask */
    return moe_run<honest>(m, stream);
}
