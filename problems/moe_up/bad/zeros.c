// problem: moe_up
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include "../../candidate.h"

/* Inside a loose absolute tolerance: the published outputs are about 0.001. */
int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    (void)hidden;
    (void)expert_offsets;
    (void)w_gate;
    (void)w_up;
    (void)hidden_dim;
    (void)experts;
    (void)stream;
    memset(out, 0, (size_t)(tokens * inter_dim) * sizeof *out);
    return 0;
}
