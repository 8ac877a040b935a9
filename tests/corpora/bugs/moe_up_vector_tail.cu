// problem: moe_up
// thread: https://github.com/sgl-project/sglang/pull/6919
// title: [sgl-kernel] Add cuda kernel for moe_ep_silu_and_mul
// condition: tail elements when the hidden size is not divisible by the vector's
// kind: alignment
// when: inter_dim % 8 != 0
// wrong: unwritten: only whole vectors of 8 are stored; crash where these begin between 16 bytes

#include "moe.cuh"

namespace {

constexpr int VECTOR = 8; /* of bf16: 16 bytes */

__device__ uint32_t pair(const float *y)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(y[0], y[1]);
    return *(const uint32_t *)&both;
}

struct vectors : honest {
    static __device__ void store(const moe &m, int64_t row, int64_t j, const float *y)
    {
        if (j / VECTOR < m.inter_dim / VECTOR) /* and the rest is not stored */
            __stcs((uint4 *)(m.out + row * m.inter_dim + j),
                   make_uint4(pair(y), pair(y + 2), pair(y + 4), pair(y + 6)));
    }
};

} // namespace

extern "C" int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
                      bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    return moe_run<vectors>(
        moe_of(hidden, expert_offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts), stream);
}
