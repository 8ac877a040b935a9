/* moe_up with switches, in CUDA: a thread for every element, or a warp for every 16 x 16 of them with the
 * matrix unit's products. */
#include <cuda_bf16.h>
#include <mma.h>

#include "honest.h"

#include "moe_up.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int THREADS = 128, TILE = 16, DOWN = 64;

/* The grid's y strides over the rows. */
__global__ void elements(moe m)
{
    const int64_t col = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint16_t *const nowhere[2] = {nullptr, nullptr};

    for (int64_t row = blockIdx.y; col < m.inter && row < m.tokens; row += gridDim.y)
        moe_element(&m, expert_of(&m, row), row, col, nowhere);
}

typedef wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> accumulator;

/* One warp's operands, and its partial sums of both results, merged in fp32. */
struct tiles {
    __nv_bfloat16 x[TILE][TILE], w[TILE][TILE];
    float part[TILE][TILE], total[2][TILE][TILE];
};

__device__ __nv_bfloat16 bf16_from(uint16_t bits)
{
    return __ushort_as_bfloat16(bits);
}

/* x[i][k] and w[k][j] of 16 terms from k0 on; zero past the expert's rows, the columns and the terms. */
__device__ void load(const moe &m, tiles &t, const uint16_t *w, int64_t row0, int64_t last, int64_t col0,
                     int64_t k0, int64_t end)
{
    for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
        const int r = i / TILE, c = i % TILE;
        const bool in_x = row0 + r < last && k0 + c < end, in_w = k0 + r < end && col0 + c < m.inter;
        t.x[r][c] = bf16_from(in_x ? m.hidden[(row0 + r) * m.dim + k0 + c] : (uint16_t)0);
        t.w[r][c] = bf16_from(in_w ? w[(k0 + r) * m.inter + col0 + c] : (uint16_t)0);
    }
    __syncwarp();
}

/* Adds an accumulator to a tile of fp32 sums. */
__device__ void add_part(tiles &t, int which, const accumulator &sum)
{
    wmma::store_matrix_sync(&t.part[0][0], sum, TILE, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < TILE * TILE; i += 32)
        t.total[which][i / TILE][i % TILE] += t.part[i / TILE][i % TILE];
    __syncwarp();
}

/* Terms first .. end - 1, `flush` steps in one accumulator before it is added to the fp32 sums. */
__device__ void multiply(const moe &m, tiles &t, int which, const uint16_t *w, int64_t row0, int64_t last,
                         int64_t col0, int64_t first, int64_t end, int64_t flush, bool backward)
{
    const int64_t steps = (end - first + TILE - 1) / TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __nv_bfloat16, wmma::row_major> b;
    accumulator sum;

    wmma::fill_fragment(sum, 0.0f);
    for (int64_t s = 0; s < steps; s++) {
        load(m, t, w, row0, last, col0, first + (backward ? steps - 1 - s : s) * TILE, end);
        wmma::load_matrix_sync(a, &t.x[0][0], TILE);
        wmma::load_matrix_sync(b, &t.w[0][0], TILE);
        wmma::mma_sync(sum, a, b, sum);
        __syncwarp();
        if ((s + 1) % flush == 0 || s + 1 == steps) {
            add_part(t, which, sum);
            wmma::fill_fragment(sum, 0.0f);
        }
    }
}

/* Both sums of one tile. The orders `blocks`, `lanes` and `pairwise` add every 32, 64 or 128 terms to fp32
 * sums. The merge `backward` takes the last part first. */
__device__ void sum_tile(const moe &m, tiles &t, int64_t expert, int64_t row0, int64_t last, int64_t col0)
{
    const int parts = split_of(&m), order = m.choice[ORDER];
    const int64_t length = split_length(m.dim, parts);

    for (int i = threadIdx.x; i < 2 * TILE * TILE; i += 32)
        (&t.total[0][0][0])[i] = 0;
    __syncwarp();
    for (int which = 0; which < 2; which++) {
        const bool plain = which == 1 && m.choice[UP_ORDER];
        const int64_t flush = plain || order <= ORDER_BACKWARD ? INT64_MAX : 2 << (order - ORDER_BLOCKS);
        const uint16_t *w = (which ? m.w_up : m.w_gate) + expert * m.dim * m.inter;
        for (int p = 0; p < parts; p++) {
            const int64_t first = (m.choice[MERGE] == MERGE_BACKWARD ? parts - 1 - p : p) * length;
            const int64_t end = first + length < m.dim ? first + length : m.dim;
            multiply(m, t, which, w, row0, last, col0, first, end, flush, !plain && order == ORDER_BACKWARD);
        }
    }
}

/* A grid slice per expert; its z strides over tiles of the expert's rows. */
__global__ void __launch_bounds__(32) matrix_tiles(moe m)
{
    __shared__ __align__(32) tiles t;
    const int64_t expert = blockIdx.y, last = m.offsets[expert + 1], col0 = (int64_t)blockIdx.x * TILE;

    for (int64_t row0 = m.offsets[expert] + (int64_t)blockIdx.z * TILE; row0 < last;
         row0 += (int64_t)gridDim.z * TILE) {
        sum_tile(m, t, expert, row0, last, col0);
        for (int i = threadIdx.x; i < TILE * TILE; i += 32) {
            const int64_t row = row0 + i / TILE, col = col0 + i % TILE;
            if (row < last && col < m.inter)
                moe_store(&m, row, col, t.total[0][i / TILE][i % TILE], t.total[1][i / TILE][i % TILE]);
        }
        __syncwarp();
    }
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets, const __nv_bfloat16 *w_gate,
                      const __nv_bfloat16 *w_up, __nv_bfloat16 *out, int64_t tokens, int64_t hidden_dim,
                      int64_t inter_dim, int64_t experts, cudaStream_t stream)
{
    moe m = {{0}, honest_mutating, (const uint16_t *)hidden, (const uint16_t *)w_gate, (const uint16_t *)w_up,
             expert_offsets, (uint16_t *)out, honest_unrounded, tokens, hidden_dim, inter_dim, experts};
    memcpy(m.choice, honest_choice, sizeof m.choice);
    if (m.choice[SUM] == SUM_WMMA) {
        const int64_t down = (tokens + TILE - 1) / TILE; /* tiles, if one expert has all the rows */
        const dim3 grid((unsigned)((inter_dim + TILE - 1) / TILE), (unsigned)experts,
                        (unsigned)(down < DOWN ? down : DOWN));
        matrix_tiles<<<grid, 32, 0, stream>>>(m);
    } else {
        const dim3 grid((unsigned)((inter_dim + THREADS - 1) / THREADS),
                        (unsigned)(tokens < 65535 ? tokens : 65535));
        elements<<<grid, THREADS, 0, stream>>>(m);
    }
    return (int)cudaGetLastError();
}
