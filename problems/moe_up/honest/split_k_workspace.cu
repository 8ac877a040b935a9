// problem: moe_up
// verdict: general
// construction: chunks of rows; k in four slices along grid.z, fp32 partial sums of gate and up in
// a workspace, a second kernel merges them and applies silu
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256, SLICES = 4;
constexpr int64_t SPACE = (int64_t)1 << 24; /* elements of a partial sum: 512 MiB in all */

/* The rows of out that a launch computes, and its partial sums [2][SLICES][last - first, inter]. */
struct chunk {
    int64_t first, last;
    float *part;
};

/* Row tiles of all experts inside the chunk in one list. Sets the expert and the rows first ..
 * last - 1 of entry `tile`, at most TILE of them; false past the end of the list. */
__device__ bool find_tile(const int32_t *offsets, int64_t experts, const chunk &c, int64_t tile,
                          int64_t &expert, int64_t &first, int64_t &last)
{
    for (expert = 0; expert < experts; expert++) {
        first = offsets[expert] > c.first ? offsets[expert] : c.first;
        last = offsets[expert + 1] < c.last ? offsets[expert + 1] : c.last;
        const int64_t tiles = first < last ? (last - first + TILE - 1) / TILE : 0;
        if (tile < tiles) {
            first += tile * TILE;
            last = last - first < TILE ? last : first + TILE;
            return true;
        }
        tile -= tiles;
    }
    return false;
}

/* tile[p][r] = hidden[first + r][k0 + p], zero from row `last` on and past k = k1. */
__device__ void load_hidden(float (*tile)[TILE + 1], const __nv_bfloat16 *hidden, int64_t first,
                            int64_t last, int64_t k0, int64_t k1, int64_t hidden_dim)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = first + r < last && k0 + p < k1;
        tile[p][r] = inside ? __bfloat162float(hidden[(first + r) * hidden_dim + k0 + p]) : 0.0f;
    }
}

/* tile[p][c] = weight[k0 + p][col0 + c], zero past k = k1 and past inter_dim. */
__device__ void load_weight(float (*tile)[TILE + 1], const __nv_bfloat16 *weight, int64_t k0,
                            int64_t k1, int64_t col0, int64_t inter_dim)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int p = i / TILE, c = i % TILE;
        const bool inside = k0 + p < k1 && col0 + c < inter_dim;
        tile[p][c] = inside ? __bfloat162float(weight[(k0 + p) * inter_dim + col0 + c]) : 0.0f;
    }
}

/* Slice z of k, gates for even z / SLICES, ups for odd: one product per block. */
__global__ void __launch_bounds__(THREADS)
    partial(const __nv_bfloat16 *hidden, const int32_t *offsets, const __nv_bfloat16 *w_gate,
            const __nv_bfloat16 *w_up, chunk c, int64_t hidden_dim, int64_t inter_dim,
            int64_t experts)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, slice = blockIdx.z % SLICES;
    const int64_t col0 = (int64_t)blockIdx.x * TILE;
    const int64_t k_first = hidden_dim * slice / SLICES, k1 = hidden_dim * (slice + 1) / SLICES;
    int64_t expert, first, last;
    float sum[4][4] = {};

    if (!find_tile(offsets, experts, c, blockIdx.y, expert, first, last))
        return;
    const __nv_bfloat16 *weight =
        (blockIdx.z < SLICES ? w_gate : w_up) + expert * hidden_dim * inter_dim;
    for (int64_t k0 = k_first; k0 < k1; k0 += STEP) {
        load_hidden(a, hidden, first, last, k0, k1, hidden_dim);
        load_weight(b, weight, k0, k1, col0, inter_dim);
        __syncthreads();
        for (int p = 0; p < STEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[p][ty + 16 * i] * b[p][tx + 16 * j];
        __syncthreads();
    }
    float *part = c.part + blockIdx.z * (c.last - c.first) * inter_dim;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t row = first + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < last && col < inter_dim)
                part[(row - c.first) * inter_dim + col] = sum[i][j];
        }
}

/* Slices are added in order, so that equal inputs give equal bits. */
__global__ void merge(chunk c, __nv_bfloat16 *out, int64_t inter_dim)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t count = (c.last - c.first) * inter_dim;
    float gate = 0, up = 0;

    if (i >= count)
        return;
    for (int z = 0; z < SLICES; z++) {
        gate += c.part[z * count + i];
        up += c.part[(SLICES + z) * count + i];
    }
    out[c.first * inter_dim + i] = __float2bfloat16(gate / (1.0f + expf(-gate)) * up);
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    const int64_t most = SPACE / inter_dim, rows = most < tokens ? most : tokens;
    const unsigned across = (unsigned)((inter_dim + TILE - 1) / TILE);
    float *part;
    cudaError_t error =
        cudaMallocAsync((void **)&part, (size_t)(2 * SLICES * rows * inter_dim) * 4, stream);

    if (error != cudaSuccess)
        return (int)error;
    for (int64_t first = 0; first < tokens; first += rows) {
        const chunk c = {first, tokens - first < rows ? tokens : first + rows, part};
        const int64_t size = c.last - c.first;
        const dim3 grid(across, (unsigned)(size / TILE + experts), 2 * SLICES);

        partial<<<grid, THREADS, 0, stream>>>(hidden, expert_offsets, w_gate, w_up, c, hidden_dim,
                                              inter_dim, experts);
        merge<<<(unsigned)((size * inter_dim + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
            c, out, inter_dim);
    }
    error = cudaGetLastError();
    cudaFreeAsync(part, stream);
    return (int)error;
}
