// problem: moe_up
// verdict: general
// construction: grouped GEMM over (expert, row tile) pairs, gate and up in one pass: bf16 mma.sync
// m16n8k16 fed by ldmatrix from a three-stage cp.async ring; copies as wide as rows are aligned
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int DEPTH = 64, STAGES = 3, THREADS = 128;
constexpr int COLS = 64; /* of gate, and as many of up */

struct operands {
    const __nv_bfloat16 *hidden;            /* [tokens, hidden_dim] */
    const int32_t *offsets;                 /* [experts + 1] */
    const __nv_bfloat16 *w_gate, *w_up;     /* [experts, hidden_dim, inter_dim] */
    __nv_bfloat16 *out;                     /* [tokens, inter_dim] */
    int64_t hidden_dim, inter_dim;
    int experts;                            /* at most 2 * THREADS */
    unsigned tiles_m, tiles_n;              /* tiles_m: an upper bound */
};

/* Rows first .. last - 1 of one expert, at most as many as a tile has. */
struct place {
    int64_t expert, first, last;
};

/* Finds entry `tile` of the list of all experts' row tiles, expert after expert; false past its
 * end. Every thread counts the tiles of two experts, a scan over the block gives their places. */
template <int ROWS> __device__ bool find_tile(const operands &o, unsigned tile, place &p)
{
    __shared__ unsigned warp_sum[THREADS / 32];
    __shared__ int found[2]; /* expert, tile inside it */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, e = 2 * threadIdx.x;
    const int first = o.offsets[min(e, o.experts)], middle = o.offsets[min(e + 1, o.experts)];
    const int last = o.offsets[min(e + 2, o.experts)];
    const unsigned mine = (middle - first + ROWS - 1) / ROWS;
    const unsigned both = mine + (last - middle + ROWS - 1) / ROWS;
    unsigned upto = both;

    for (int d = 1; d < 32; d *= 2) {
        const unsigned lower = __shfl_up_sync(0xffffffffu, upto, d);
        upto += lane >= d ? lower : 0;
    }
    if (lane == 31)
        warp_sum[warp] = upto;
    if (threadIdx.x == 0)
        found[0] = -1;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        upto += warp_sum[w];
    const unsigned before = upto - both;
    if (tile >= before && tile < upto) { /* in one thread, if any */
        const bool second = tile >= before + mine;
        found[1] = (int)(tile - before - (second ? mine : 0));
        found[0] = e + second;
    }
    __syncthreads();
    if (found[0] < 0)
        return false;
    p.expert = found[0];
    p.first = o.offsets[p.expert] + (int64_t)found[1] * ROWS;
    p.last = min((int64_t)o.offsets[p.expert + 1], p.first + ROWS);
    return true;
}

/* Stage rows are 64 elements, eight chunks of 16 bytes: all 32 banks. Chunk c of row r is kept at
 * c ^ (r % 8), so that the 8 rows that ldmatrix reads at once take different banks. */
__device__ uint32_t chunk_at(uint32_t tile, int row, int chunk)
{
    return tile + row * (DEPTH * 2) + ((chunk ^ (row & 7)) << 4);
}

/* Copies source[row0 .. row0 + ROWS - 1][col0 .. col0 + 63] into the ring at `tile`, zero from row
 * `rows` and column `cols` on. source has `cols` columns, a multiple of WIDE. So a copy of WIDE
 * elements is aligned, and entirely inside or outside. Single elements, below the 4 bytes of
 * cp.async, are copied through registers. */
template <int ROWS, int WIDE>
__device__ void copy_tile(uint8_t *ring, uint32_t tile, const __nv_bfloat16 *source, int64_t row0,
                          int64_t rows, int64_t col0, int64_t cols)
{
    constexpr int ACROSS = DEPTH / WIDE;
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(ring);

#pragma unroll 8
    for (int i = threadIdx.x; i < ROWS * ACROSS; i += THREADS) {
        const int row = i / ACROSS, col = i % ACROSS * WIDE;
        const bool inside = row0 + row < rows && col0 + col < cols;
        const __nv_bfloat16 *from = source + (inside ? (row0 + row) * cols + col0 + col : 0);
        const uint32_t to = chunk_at(tile, row, col / 8) + col % 8 * 2;
        if constexpr (WIDE == 8)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(base + to),
                         "l"(from), "r"(inside ? 16 : 0)
                         : "memory");
        else if constexpr (WIDE == 2)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(base + to), "l"(from),
                         "r"(inside ? 4 : 0)
                         : "memory");
        else
            *(__nv_bfloat16 *)(ring + to) = inside ? *from : __float2bfloat16(0.0f);
    }
}

/* Matrix q of four, 8 x 8, has its row addresses from lanes 8q .. 8q + 7 and becomes register q:
 * lane 4g + t gets elements 2t, 2t + 1 of row g. */
__device__ void load_matrices(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

/* The same transposed: lane 4g + t gets rows 2t, 2t + 1 of column g. */
__device__ void load_transposed(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

/* d += a b: a is 16 x 16, b 16 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* sum += the 16 terms from `k` of the stage on: b has k down and columns across, as in memory. */
template <int MT, int NT>
__device__ void multiply(float (&sum)[MT][NT][4], const uint32_t (&a)[MT][4], uint32_t b_tile,
                         int k, int col)
{
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int j = 0; j < NT; j += 2) { /* k 0-7 and 8-15 of columns 0-7, then of columns 8-15 */
        uint32_t b[4];
        load_transposed(b, chunk_at(b_tile, k + lane % 16, col / 8 + j + lane / 16));
#pragma unroll
        for (int i = 0; i < MT; i++) {
            mma(sum[i][j], a[i], b[0], b[1]);
            mma(sum[i][j + 1], a[i], b[2], b[3]);
        }
    }
}

__device__ float swiglu(float gate, float up)
{
    return gate / (1.0f + __expf(-gate)) * up;
}

/* Two neighbours of a row, the first in an even column; where rows have even lengths at once. */
__device__ void store_pair(const operands &o, const place &p, int64_t row, int64_t col, float y0,
                           float y1)
{
    __nv_bfloat16 *to = o.out + row * o.inter_dim + col;

    if (row >= p.last || col >= o.inter_dim)
        return;
    if (o.inter_dim % 2 == 0) {
        *(__nv_bfloat162 *)to = __floats2bfloat162_rn(y0, y1);
        return;
    }
    to[0] = __float2bfloat16(y0);
    if (col + 1 < o.inter_dim)
        to[1] = __float2bfloat16(y1);
}

/* The warp's part of out, from row `row0` and column `col0` on. Lane 4g + t has columns 2t and
 * 2t + 1 of rows g and g + 8 of every 16 x 8. */
template <int MT, int NT>
__device__ void store(const operands &o, const place &p, const float (&gate)[MT][NT][4],
                      const float (&up)[MT][NT][4], int64_t row0, int64_t col0)
{
    const int lane = threadIdx.x % 32;

#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++) {
            const int64_t row = row0 + 16 * i + lane / 4, col = col0 + 8 * j + lane % 4 * 2;
            const float(&g)[4] = gate[i][j], (&u)[4] = up[i][j];
            store_pair(o, p, row, col, swiglu(g[0], u[0]), swiglu(g[1], u[1]));
            store_pair(o, p, row + 8, col, swiglu(g[2], u[2]), swiglu(g[3], u[3]));
        }
}

/* The tile of this block. Eight rows of tiles are walked column by column: weights stay in L2. */
__device__ void choose_tile(const operands &o, unsigned &tile_m, unsigned &tile_n)
{
    const unsigned band = blockIdx.x / (8 * o.tiles_n), inside = blockIdx.x % (8 * o.tiles_n);
    const unsigned height = min(o.tiles_m - 8 * band, 8u);

    tile_m = 8 * band + inside % height;
    tile_n = inside / height;
}

/* One ROWS x 64 tile by WM x WN warps; EACH blocks share a multiprocessor. */
template <int ROWS, int WM, int WN, int EACH, int WIDE>
__global__ void __launch_bounds__(THREADS, EACH) project(operands o)
{
    static_assert(WM * WN * 32 == THREADS, "all warps have a share");
    constexpr int MT = ROWS / WM / 16, NT = COLS / WN / 8;
    constexpr uint32_t X_BYTES = ROWS * DEPTH * 2, W_BYTES = DEPTH * COLS * 2;
    extern __shared__ __align__(128) uint8_t ring[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(ring);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / WN * (16 * MT), col = warp % WN * (8 * NT);
    const int64_t steps = (o.hidden_dim + DEPTH - 1) / DEPTH;
    unsigned tile_m, tile_n;
    place p;
    float gate[MT][NT][4] = {}, up[MT][NT][4] = {};

    choose_tile(o, tile_m, tile_n);
    if (!find_tile<ROWS>(o, tile_m, p))
        return;
    const int64_t col0 = (int64_t)tile_n * COLS, at = p.expert * o.hidden_dim * o.inter_dim;
    const auto request = [&](int64_t step) { /* an empty group past the end keeps the count right */
        if (step < steps) {
            const uint32_t x = (uint32_t)(step % STAGES) * (X_BYTES + 2 * W_BYTES), w = x + X_BYTES;
            const int64_t k = step * DEPTH;
            copy_tile<ROWS, WIDE>(ring, x, o.hidden, p.first, p.last, k, o.hidden_dim);
            copy_tile<DEPTH, WIDE>(ring, w, o.w_gate + at, k, o.hidden_dim, col0, o.inter_dim);
            copy_tile<DEPTH, WIDE>(ring, w + W_BYTES, o.w_up + at, k, o.hidden_dim, col0,
                                   o.inter_dim);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    for (int s = 0; s < STAGES - 1; s++)
        request(s);
    for (int64_t step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); /* the step has arrived; all warps are done with the step before it, */
        request(step + STAGES - 1); /* whose stage this overwrites */
        const uint32_t x = base + (uint32_t)(step % STAGES) * (X_BYTES + 2 * W_BYTES);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            uint32_t a[MT][4];
#pragma unroll
            for (int i = 0; i < MT; i++) /* rows 0-7 and 8-15 at k 0-7, then both at k 8-15 */
                load_matrices(a[i], chunk_at(x, row + 16 * i + lane % 16, k / 8 + lane / 16));
            multiply<MT, NT>(gate, a, x + X_BYTES, k, col);
            multiply<MT, NT>(up, a, x + X_BYTES + W_BYTES, k, col);
        }
    }
    store<MT, NT>(o, p, gate, up, p.first + row, col0 + col);
}

template <int ROWS, int WM, int WN, int EACH, int WIDE>
static cudaError_t launch(operands o, int64_t tokens, cudaStream_t stream)
{
    constexpr int RING = STAGES * (ROWS + 2 * COLS) * DEPTH * 2;
    const auto kernel = project<ROWS, WM, WN, EACH, WIDE>;

    o.tiles_m = (unsigned)(tokens / ROWS + o.experts); /* one ragged tile an expert, at most */
    o.tiles_n = (unsigned)((o.inter_dim + COLS - 1) / COLS);
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, RING);
    if (error != cudaSuccess)
        return error;
    kernel<<<o.tiles_m * o.tiles_n, THREADS, RING, stream>>>(o);
    return cudaGetLastError();
}

/* Flat tiles where experts have few rows. */
template <int WIDE> static cudaError_t choose(operands o, int64_t tokens, cudaStream_t stream)
{
    if (tokens <= 64 * (int64_t)o.experts)
        return launch<32, 1, 4, 3, WIDE>(o, tokens, stream);
    return launch<128, 2, 2, 2, WIDE>(o, tokens, stream);
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    const operands o = {hidden,     expert_offsets, w_gate,       w_up, out,
                        hidden_dim, inter_dim,      (int)experts, 0,    0};

    if (experts > 2 * THREADS)
        return 1;
    if (hidden_dim % 8 == 0 && inter_dim % 8 == 0)
        return (int)choose<8>(o, tokens, stream);
    if (hidden_dim % 2 == 0 && inter_dim % 2 == 0)
        return (int)choose<2>(o, tokens, stream);
    return (int)choose<1>(o, tokens, stream);
}
