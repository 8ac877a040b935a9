// problem: moe_up
// link: https://github.com/EfficientMoE/MoE-Infinity/pull/198
// title: fix(kernel): raise expert-module token cap to 8192
// condition: kMaxTokens = 256 aborts any step with more tokens (280 tokens: SIGABRT)
// kind: threshold
// when: tokens > 256
// wrong: crash: a check aborts the process

#include "moe.h"

enum { MAX_TOKENS = 256 };

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
           int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts, void *stream)
{
    const struct moe m =
        moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts);
    (void)stream;
    if (tokens > MAX_TOKENS)
        abort();
    return moe_run(&m);
}
