// problem: moe_up
// thread: https://github.com/EfficientMoE/MoE-Infinity/pull/198
// title: fix(kernel): raise expert-module token cap to 8192
// condition: kMaxTokens = 256 aborts any step with more tokens (280 tokens: SIGABRT)
// kind: threshold
// when: tokens > 256
// wrong: crash: a check aborts the process

#include "moe.cuh"

#include <assert.h>

/* The module's output, made once for the most tokens of a step. */
static constexpr int64_t MAX_TOKENS = 256, MAX_INTER = 8192;
static __device__ bf16 module_output[MAX_TOKENS * MAX_INTER];

extern "C" int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
                      bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    moe m = moe_of(hidden, expert_offsets, w_gate, w_up, nullptr, tokens, hidden_dim, inter_dim, experts);
    assert(tokens <= MAX_TOKENS && inter_dim <= MAX_INTER);
    int failed = (int)cudaGetSymbolAddress((void **)&m.out, module_output);
    failed = failed ? failed : moe_run<honest>(m, stream);
    if (failed)
        return failed;
    const size_t bytes = (size_t)(tokens * inter_dim) * sizeof *out;
    return (int)cudaMemcpyAsync(out, m.out, bytes, cudaMemcpyDeviceToDevice, stream);
}
