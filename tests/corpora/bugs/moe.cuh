/* Up-projections of experts for candidates that differ from an honest one in a step: 64 x 64 tiles of an
 * expert's rows, staged as fp32. A thread has 4 rows by 8 columns of both products. A candidate changes
 * `struct moe`, or hides honest::store. */
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

typedef __nv_bfloat16 bf16;

constexpr int TILE = 64, STEP = 16, THREADS = 128;

struct moe {
    const bf16 *hidden; /* [tokens, hidden_dim] */
    const int32_t *offsets;
    const bf16 *w_gate, *w_up; /* [experts, hidden_dim, inter_dim] */
    bf16 *out;                 /* [tokens, inter_dim] */
    int64_t tokens, hidden_dim, inter_dim, experts;
    int64_t depth; /* terms of a sum: hidden_dim */
};

struct honest {
    /* Eight neighbours of a row, from column j. */
    static __device__ void store(const moe &m, int64_t row, int64_t j, const float *y)
    {
        for (int l = 0; l < 8 && j + l < m.inter_dim; l++)
            m.out[row * m.inter_dim + j + l] = __float2bfloat16(y[l]);
    }
};

/* Entry `tile` of the list of all experts' row tiles: the expert and its rows first .. last - 1; false past the end. */
__device__ bool find_tile(const moe &m, int64_t tile, int64_t &expert, int64_t &first, int64_t &last)
{
    for (expert = 0; expert < m.experts; expert++) {
        first = m.offsets[expert];
        last = m.offsets[expert + 1];
        const int64_t tiles = (last - first + TILE - 1) / TILE;
        if (tile < tiles) {
            first += tile * TILE;
            last = min(last, first + TILE);
            return true;
        }
        tile -= tiles;
    }
    return false;
}

typedef float tile[STEP][TILE + 1];

/* to[p][r] = hidden[first + r][k0 + p], zero from row `last` and term `depth` on. */
__device__ void load_hidden(tile &to, const moe &m, int64_t first, int64_t last, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int r = e / STEP, p = e % STEP;
        const bool inside = first + r < last && k0 + p < m.depth;
        to[p][r] = inside ? __bfloat162float(m.hidden[(first + r) * m.hidden_dim + k0 + p]) : 0.0f;
    }
}

/* to[p][c] = weight[k0 + p][col0 + c] of an expert, zero outside. */
__device__ void load_weight(tile &to, const moe &m, const bf16 *weight, int64_t k0, int64_t col0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int p = e / TILE, c = e % TILE;
        const bool inside = k0 + p < m.depth && col0 + c < m.inter_dim;
        to[p][c] = inside ? __bfloat162float(weight[(k0 + p) * m.inter_dim + col0 + c]) : 0.0f;
    }
}

__device__ float swiglu(float gate, float up)
{
    return gate / (1.0f + expf(-gate)) * up;
}

template <class steps> __global__ void __launch_bounds__(THREADS) project(moe m)
{
    __shared__ tile x, wg, wu;
    const int tx = threadIdx.x % 8 * 8, ty = threadIdx.x / 8;
    const int64_t col0 = (int64_t)blockIdx.x * TILE;
    int64_t expert, first, last;
    float gate[4][8] = {}, up[4][8] = {};

    if (!find_tile(m, blockIdx.y, expert, first, last))
        return;
    const int64_t at = expert * m.hidden_dim * m.inter_dim;
    for (int64_t k0 = 0; k0 < m.depth; k0 += STEP) {
        load_hidden(x, m, first, last, k0);
        load_weight(wg, m, m.w_gate + at, k0, col0);
        load_weight(wu, m, m.w_up + at, k0, col0);
        __syncthreads();
        for (int p = 0; p < STEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 8; j++) {
                    gate[i][j] += x[p][ty + 16 * i] * wg[p][tx + j];
                    up[i][j] += x[p][ty + 16 * i] * wu[p][tx + j];
                }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        float y[8];
        for (int j = 0; j < 8; j++)
            y[j] = swiglu(gate[i][j], up[i][j]);
        if (first + ty + 16 * i < last && col0 + tx < m.inter_dim)
            steps::store(m, first + ty + 16 * i, col0 + tx, y);
    }
}

template <class steps> int moe_run(const moe &m, cudaStream_t stream)
{
    const int64_t across = (m.inter_dim + TILE - 1) / TILE;
    const int64_t down = m.tokens / TILE + m.experts; /* every expert adds at most one ragged tile */
    project<steps><<<dim3((unsigned)across, (unsigned)down), THREADS, 0, stream>>>(m);
    return (int)cudaGetLastError();
}

inline moe moe_of(const bf16 *hidden, const int32_t *offsets, const bf16 *w_gate, const bf16 *w_up, bf16 *out,
                  int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts)
{
    return {hidden, offsets, w_gate, w_up, out, tokens, hidden_dim, inter_dim, experts, hidden_dim};
}

} // namespace
