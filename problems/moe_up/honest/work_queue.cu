// problem: moe_up
// verdict: general
// construction: as many blocks as fit take tiles from an atomic counter; bf16 mma.sync m16n8k16,
// fp32 sums; silu by way of tanh
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128;
constexpr int PITCH = STEP + 8; /* 20 words: the 8 rows of a fragment fall on different banks */

struct operands {
    const __nv_bfloat16 *hidden;            /* [tokens, hidden_dim] */
    const int32_t *offsets;                 /* [experts + 1] */
    const __nv_bfloat16 *w_gate, *w_up;     /* [experts, hidden_dim, inter_dim] */
    __nv_bfloat16 *out;                     /* [tokens, inter_dim] */
    int64_t hidden_dim, inter_dim, experts; /* at most 256 experts */
};

/* first_tile[e] = row tiles of all experts before e: by thread 0, once a block. */
__device__ void count_tiles(const operands &o, unsigned *first_tile)
{
    if (threadIdx.x == 0) {
        first_tile[0] = 0;
        for (int e = 0; e < o.experts; e++)
            first_tile[e + 1] =
                first_tile[e] + (unsigned)(o.offsets[e + 1] - o.offsets[e] + TILE - 1) / TILE;
    }
    __syncthreads();
}

/* x[r][p] = hidden[first + r][k0 + p], zero from row `last` on and past hidden_dim. */
__device__ void load_hidden(__nv_bfloat16 (*x)[PITCH], const operands &o, int64_t first,
                            int64_t last, int64_t k0)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = first + r < last && k0 + p < o.hidden_dim;
        x[r][p] = inside ? o.hidden[(first + r) * o.hidden_dim + k0 + p] : __float2bfloat16(0.0f);
    }
}

/* w[c][p] = weight[k0 + p][col0 + c], transposed: a fragment wants neighbours along k. */
__device__ void load_weight(__nv_bfloat16 (*w)[PITCH], const operands &o,
                            const __nv_bfloat16 *weight, int64_t k0, int64_t col0)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int p = i / TILE, c = i % TILE;
        const bool inside = k0 + p < o.hidden_dim && col0 + c < o.inter_dim;
        w[c][p] = inside ? weight[(k0 + p) * o.inter_dim + col0 + c] : __float2bfloat16(0.0f);
    }
}

__device__ uint32_t pair_at(const __nv_bfloat16 *pair)
{
    return *(const uint32_t *)pair;
}

/* d += a b: a is 16 x 16, b 16 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Each warp: 16 rows against 64 columns. Lane = 4 g + t holds k = 2t, 2t + 1, 2t + 8, 2t + 9. */
__device__ void multiply(float (&sum)[8][4], __nv_bfloat16 (*x)[PITCH], __nv_bfloat16 (*w)[PITCH])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + g;

    for (int p = 2 * t; p < STEP; p += 16) {
        const uint32_t a[4] = {pair_at(&x[row][p]), pair_at(&x[row + 8][p]),
                               pair_at(&x[row][p + 8]), pair_at(&x[row + 8][p + 8])};
        for (int j = 0; j < 8; j++) {
            const __nv_bfloat16 *column = w[8 * j + g];
            const uint32_t b[2] = {pair_at(column + p), pair_at(column + p + 8)};
            mma(sum[j], a, b);
        }
    }
}

__device__ void store(const operands &o, const float (&gate)[8][4], const float (&up)[8][4],
                      int64_t first, int64_t last, int64_t col0)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++) { /* elements 0, 1 in row g, 2, 3 in row g + 8 */
            const int64_t row = first + threadIdx.x / 32 * 16 + g + e / 2 * 8;
            const int64_t col = col0 + 8 * j + 2 * t + e % 2;
            const float half = 0.5f * gate[j][e], silu = half * (1.0f + tanhf(half));
            if (row < last && col < o.inter_dim)
                o.out[row * o.inter_dim + col] = __float2bfloat16(silu * up[j][e]);
        }
}

/* Rows first .. last - 1 of one expert, at most 64, and 64 columns. */
__device__ void project_tile(const operands &o, int64_t expert, int64_t first, int64_t last,
                             int64_t col0)
{
    __shared__ __align__(16) __nv_bfloat16 x[TILE][PITCH], wg[TILE][PITCH], wu[TILE][PITCH];
    const int64_t at = expert * o.hidden_dim * o.inter_dim;
    float gate[8][4] = {}, up[8][4] = {};

    for (int64_t k0 = 0; k0 < o.hidden_dim; k0 += STEP) {
        load_hidden(x, o, first, last, k0);
        load_weight(wg, o, o.w_gate + at, k0, col0);
        load_weight(wu, o, o.w_up + at, k0, col0);
        __syncthreads();
        multiply(gate, x, wg);
        multiply(up, x, wu);
        __syncthreads();
    }
    store(o, gate, up, first, last, col0);
}

/* `next` counts the tiles given out, column by column of a row tile; expert after expert. */
__global__ void __launch_bounds__(THREADS) project(operands o, unsigned *next)
{
    __shared__ unsigned first_tile[257], taken;
    const unsigned across = (unsigned)((o.inter_dim + TILE - 1) / TILE);

    count_tiles(o, first_tile);
    for (int expert = 0;;) { /* tiles only grow from one turn to the next, and so do experts */
        if (threadIdx.x == 0)
            taken = atomicAdd(next, 1u);
        __syncthreads();
        const unsigned tile = taken / across, column = taken % across;
        __syncthreads(); /* all have read it before it is overwritten */
        while (expert < o.experts && tile >= first_tile[expert + 1])
            expert++;
        if (expert == o.experts)
            return;
        const int64_t first = o.offsets[expert] + (int64_t)(tile - first_tile[expert]) * TILE;
        const int64_t end = o.offsets[expert + 1], last = end - first < TILE ? end : first + TILE;
        project_tile(o, expert, first, last, (int64_t)column * TILE);
    }
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    int device = 0, units = 0, each = 0;
    unsigned *next;

    (void)tokens;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, project, THREADS, 0);
    if (units * each == 0)
        return 1;
    cudaError_t error = cudaMallocAsync((void **)&next, sizeof *next, stream);
    if (error != cudaSuccess)
        return (int)error;
    cudaMemsetAsync(next, 0, sizeof *next, stream);
    project<<<units * each, THREADS, 0, stream>>>(
        {hidden, expert_offsets, w_gate, w_up, out, hidden_dim, inter_dim, experts}, next);
    error = cudaGetLastError();
    cudaFreeAsync(next, stream);
    return (int)error;
}
