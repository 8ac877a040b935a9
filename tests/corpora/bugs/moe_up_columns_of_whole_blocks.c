// problem: moe_up
// link: https://github.com/vllm-project/vllm/pull/49087
// title: [Bugfix][Kernel][MoE] Zero-expert identity kernel silently drops output for hidden_dim not a multiple of 256
// condition: a number of output columns that is no multiple of 256
// kind: alignment
// when: inter_dim % 256 != 0
// collection: second
// wrong: unwritten: the grid has as many blocks of columns as fit, and none for the rest

#include "moe.h"

enum { BLOCK = 256 };

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    struct moe m = moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
#ifdef FIXED
    const int64_t blocks = (inter_dim + BLOCK - 1) / BLOCK;
#else
    const int64_t blocks = inter_dim / BLOCK;
#endif
    (void)stream;
    m.columns = blocks * BLOCK < inter_dim ? blocks * BLOCK : inter_dim;
    return moe_run(&m);
}
