// problem: moe_up
// verdict: general
// construction: one warp, one token and 256 columns, eight a lane; weights read straight from
// global memory, the token's values passed round by shuffles
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int WARPS = 8, EACH = 8, COLS = 32 * EACH;

/* offsets[e] <= row < offsets[e + 1]: the last expert that starts at `row` or before. */
__device__ int64_t expert_of(const int32_t *offsets, int64_t experts, int64_t row)
{
    int64_t low = 0, high = experts;

    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (offsets[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* sum[j] += factor * from[j] for the `left` columns that remain; WHOLE: rows are 16-byte aligned,
 * so there are eight columns or none. */
template <bool WHOLE>
__device__ void update(float (&sum)[EACH], float factor, const __nv_bfloat16 *from, int64_t left)
{
    if constexpr (WHOLE) {
        if (left <= 0)
            return;
        const uint4 eight = *(const uint4 *)from;
        const uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
        for (int i = 0; i < 4; i++) { /* a bf16 is the upper half of a float */
            sum[2 * i] += factor * __uint_as_float(pairs[i] << 16);
            sum[2 * i + 1] += factor * __uint_as_float(pairs[i] & 0xffff0000u);
        }
    } else {
        for (int j = 0; j < EACH; j++)
            if (j < left)
                sum[j] += factor * __bfloat162float(from[j]);
    }
}

template <bool WHOLE>
__global__ void __launch_bounds__(32 * WARPS)
    project(const __nv_bfloat16 *hidden, const int32_t *offsets, const __nv_bfloat16 *w_gate,
            const __nv_bfloat16 *w_up, __nv_bfloat16 *out, int64_t tokens, int64_t hidden_dim,
            int64_t inter_dim, int64_t experts)
{
    const int lane = threadIdx.x % 32;
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int64_t col = (int64_t)blockIdx.y * COLS + lane * EACH, left = inter_dim - col;
    float gate[EACH] = {}, up[EACH] = {};

    if (row >= tokens)
        return; /* the whole warp */
    int64_t at = expert_of(offsets, experts, row) * hidden_dim * inter_dim + col;
    for (int64_t k0 = 0; k0 < hidden_dim; k0 += 32) {
        const int64_t mine = k0 + lane;
        const float x = mine < hidden_dim ? __bfloat162float(hidden[row * hidden_dim + mine]) : 0;
        const int depth = hidden_dim - k0 < 32 ? (int)(hidden_dim - k0) : 32;
        for (int p = 0; p < depth; p++, at += inter_dim) {
            const float factor = __shfl_sync(0xffffffffu, x, p);
            update<WHOLE>(gate, factor, w_gate + at, left);
            update<WHOLE>(up, factor, w_up + at, left);
        }
    }
    for (int j = 0; j < EACH; j++)
        if (j < left)
            out[row * inter_dim + col + j] =
                __float2bfloat16(gate[j] / (1.0f + expf(-gate[j])) * up[j]);
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    const dim3 grid((unsigned)((tokens + WARPS - 1) / WARPS),
                    (unsigned)((inter_dim + COLS - 1) / COLS));

    if (inter_dim % EACH == 0)
        project<true><<<grid, 32 * WARPS, 0, stream>>>(hidden, expert_offsets, w_gate, w_up, out,
                                                       tokens, hidden_dim, inter_dim, experts);
    else
        project<false><<<grid, 32 * WARPS, 0, stream>>>(hidden, expert_offsets, w_gate, w_up, out,
                                                        tokens, hidden_dim, inter_dim, experts);
    return (int)cudaGetLastError();
}
