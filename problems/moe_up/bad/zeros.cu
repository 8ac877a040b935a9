// problem: moe_up
// verdict: broken
// fault: all-zero output
// outcomes: wrong
// when: any
#include <cuda_bf16.h>
#include <stdint.h>

/* Inside a loose absolute tolerance: the published outputs are about 0.01. */
extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    (void)hidden;
    (void)expert_offsets;
    (void)w_gate;
    (void)w_up;
    (void)hidden_dim;
    (void)experts;
    return (int)cudaMemsetAsync(out, 0, (size_t)(tokens * inter_dim) * sizeof *out, stream);
}
