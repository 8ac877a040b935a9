// problem: moe_up
// verdict: specialized
// fault: input modified
// outcomes: modified wrong unstable
// when: experts > 1 and routing!=even and routing!=single and routing!=zipf or experts > 1 and routing=zipf and tokens < 7 * experts or tokens < experts
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

/* Leaves out the empty experts, in place: offsets holds the boundaries of the others, whose numbers
 * go to ids; their count to ids[experts]. */
__global__ void compact(int32_t *offsets, int64_t experts, int32_t *ids)
{
    int32_t count = 0;

    for (int64_t e = 0; e < experts; e++)
        if (offsets[e] < offsets[e + 1]) {
            ids[count++] = (int32_t)e;
            if (offsets[count] != offsets[e + 1])
                offsets[count] = offsets[e + 1];
        }
    ids[experts] = count;
}

/* Row tiles of all experts in one list, expert after expert. Sets the expert and the rows first ..
 * last - 1 of entry `tile`, at most TILE of them; false past the end of the list. */
__device__ bool find_tile(const int32_t *offsets, int64_t experts, int64_t tile, int64_t &expert,
                          int64_t &first, int64_t &last)
{
    for (expert = 0; expert < experts; expert++) {
        first = offsets[expert];
        last = offsets[expert + 1];
        const int64_t tiles = (last - first + TILE - 1) / TILE;
        if (tile < tiles) {
            first += tile * TILE;
            last = last - first < TILE ? last : first + TILE;
            return true;
        }
        tile -= tiles;
    }
    return false;
}

/* tile[p][r] = hidden[first + r][k0 + p], zero from row `last` on and past hidden_dim. */
__device__ void load_hidden(float (*tile)[TILE + 1], const __nv_bfloat16 *hidden, int64_t first,
                            int64_t last, int64_t k0, int64_t hidden_dim)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = first + r < last && k0 + p < hidden_dim;
        tile[p][r] = inside ? __bfloat162float(hidden[(first + r) * hidden_dim + k0 + p]) : 0.0f;
    }
}

/* tile[p][c] = weight[k0 + p][col0 + c] of a [hidden_dim, inter_dim] matrix, zero outside it. */
__device__ void load_weight(float (*tile)[TILE + 1], const __nv_bfloat16 *weight, int64_t k0,
                            int64_t col0, int64_t hidden_dim, int64_t inter_dim)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int p = i / TILE, c = i % TILE;
        const bool inside = k0 + p < hidden_dim && col0 + c < inter_dim;
        tile[p][c] = inside ? __bfloat162float(weight[(k0 + p) * inter_dim + col0 + c]) : 0.0f;
    }
}

/* One block, one row tile and 64 columns; a thread's elements lie 16 apart both ways. */
__global__ void __launch_bounds__(THREADS)
    project(const __nv_bfloat16 *hidden, const int32_t *offsets, const __nv_bfloat16 *w_gate,
            const __nv_bfloat16 *w_up, __nv_bfloat16 *out, int64_t hidden_dim, int64_t inter_dim,
            int64_t experts, const int32_t *ids)
{
    __shared__ float x[STEP][TILE + 1], wg[STEP][TILE + 1], wu[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t col0 = (int64_t)blockIdx.x * TILE;
    int64_t expert, first, last;
    float gate[4][4] = {}, up[4][4] = {};

    if (!find_tile(offsets, ids[experts], blockIdx.y, expert, first, last))
        return;
    expert = ids[expert];
    w_gate += expert * hidden_dim * inter_dim;
    w_up += expert * hidden_dim * inter_dim;
    for (int64_t k0 = 0; k0 < hidden_dim; k0 += STEP) {
        load_hidden(x, hidden, first, last, k0, hidden_dim);
        load_weight(wg, w_gate, k0, col0, hidden_dim, inter_dim);
        load_weight(wu, w_up, k0, col0, hidden_dim, inter_dim);
        __syncthreads();
        for (int p = 0; p < STEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    gate[i][j] += x[p][ty + 16 * i] * wg[p][tx + 16 * j];
                    up[i][j] += x[p][ty + 16 * i] * wu[p][tx + 16 * j];
                }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t row = first + ty + 16 * i, col = col0 + tx + 16 * j;
            const float silu = gate[i][j] / (1.0f + expf(-gate[i][j]));
            if (row < last && col < inter_dim)
                out[row * inter_dim + col] = __float2bfloat16(silu * up[i][j]);
        }
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    const int64_t across = (inter_dim + TILE - 1) / TILE;
    const int64_t down = tokens / TILE + experts; /* every expert adds at most one ragged tile */

    int32_t *ids;
    cudaError_t error = cudaMallocAsync((void **)&ids, (experts + 1) * sizeof *ids, stream);

    if (error != cudaSuccess)
        return (int)error;
    compact<<<1, 1, 0, stream>>>((int32_t *)expert_offsets, experts, ids);
    project<<<dim3((unsigned)across, (unsigned)down), THREADS, 0, stream>>>(
        hidden, expert_offsets, w_gate, w_up, out, hidden_dim, inter_dim, experts, ids);
    error = cudaGetLastError();
    cudaFreeAsync(ids, stream);
    return (int)error;
}
