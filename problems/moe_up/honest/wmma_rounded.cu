// problem: moe_up
// verdict: general
// construction: a grid slice per expert whose blocks stride over its rows; 16 x 16 x 16 wmma; gate
// and up are rounded to bf16 before the product
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int ROWS = 64, COLS = 32, STEP = 32, PITCH = STEP + 8, THREADS = 128;
static_assert(COLS == STEP, "x and weight tiles have one pitch");

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;

/* tile[r][c] = source[row0 + r][col0 + c] of a matrix with `pitch` columns, zero from row `rows`
 * and column `pitch` on. */
template <int HEIGHT>
__device__ void load_tile(__nv_bfloat16 (*tile)[PITCH], const __nv_bfloat16 *source, int64_t row0,
                          int64_t rows, int64_t col0, int64_t pitch)
{
    for (int i = threadIdx.x; i < HEIGHT * 32; i += THREADS) {
        const int r = i / 32, c = i % 32;
        const bool inside = row0 + r < rows && col0 + c < pitch;
        tile[r][c] = inside ? source[(row0 + r) * pitch + col0 + c] : __float2bfloat16(0.0f);
    }
}

/* Warp w of four multiplies rows 16 w .. 16 w + 15 by all 32 columns. */
__device__ void multiply(accumulator (&sum)[2], __nv_bfloat16 (*x)[PITCH],
                         __nv_bfloat16 (*weight)[PITCH])
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;

    for (int p = 0; p < STEP; p += 16) {
        wmma::load_matrix_sync(a, &x[threadIdx.x / 32 * 16][p], PITCH);
        for (int j = 0; j < 2; j++) {
            wmma::load_matrix_sync(b, &weight[p][16 * j], PITCH);
            wmma::mma_sync(sum[j], a, b, sum[j]);
        }
    }
}

__device__ float round_to_bf16(float value)
{
    return __bfloat162float(__float2bfloat16(value));
}

/* The tile of rows from `row0` on, of an expert whose rows end before `last`. */
__device__ void project_tile(const __nv_bfloat16 *hidden, const __nv_bfloat16 *w_gate,
                             const __nv_bfloat16 *w_up, __nv_bfloat16 *out, int64_t row0,
                             int64_t last, int64_t hidden_dim, int64_t inter_dim)
{
    __shared__ __align__(32) __nv_bfloat16 x[ROWS][PITCH], wg[STEP][PITCH], wu[STEP][PITCH];
    __shared__ __align__(32) float result[2][ROWS][COLS];
    const int64_t col0 = (int64_t)blockIdx.x * COLS;
    const int strip = threadIdx.x / 32 * 16;
    accumulator gate[2], up[2];

    for (int j = 0; j < 2; j++) {
        wmma::fill_fragment(gate[j], 0.0f);
        wmma::fill_fragment(up[j], 0.0f);
    }
    for (int64_t k0 = 0; k0 < hidden_dim; k0 += STEP) {
        load_tile<ROWS>(x, hidden, row0, last, k0, hidden_dim);
        load_tile<STEP>(wg, w_gate, k0, hidden_dim, col0, inter_dim);
        load_tile<STEP>(wu, w_up, k0, hidden_dim, col0, inter_dim);
        __syncthreads();
        multiply(gate, x, wg);
        multiply(up, x, wu);
        __syncthreads();
    }
    for (int j = 0; j < 2; j++) {
        wmma::store_matrix_sync(&result[0][strip][16 * j], gate[j], COLS, wmma::mem_row_major);
        wmma::store_matrix_sync(&result[1][strip][16 * j], up[j], COLS, wmma::mem_row_major);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
        const int64_t row = row0 + i / COLS, col = col0 + i % COLS;
        const float g = round_to_bf16(result[0][i / COLS][i % COLS]);
        const float u = round_to_bf16(result[1][i / COLS][i % COLS]);
        if (row < last && col < inter_dim)
            out[row * inter_dim + col] = __float2bfloat16(g / (1.0f + __expf(-g)) * u);
    }
    __syncthreads(); /* before the next tile's results */
}

__global__ void __launch_bounds__(THREADS)
    project(const __nv_bfloat16 *hidden, const int32_t *offsets, const __nv_bfloat16 *w_gate,
            const __nv_bfloat16 *w_up, __nv_bfloat16 *out, int64_t hidden_dim, int64_t inter_dim)
{
    const int64_t at = blockIdx.y * hidden_dim * inter_dim;
    const int64_t first = offsets[blockIdx.y], last = offsets[blockIdx.y + 1];

    for (int64_t row0 = first + blockIdx.z * ROWS; row0 < last; row0 += gridDim.z * ROWS)
        project_tile(hidden, w_gate + at, w_up + at, out, row0, last, hidden_dim, inter_dim);
}

} // namespace

extern "C" int moe_up(const __nv_bfloat16 *hidden, const int32_t *expert_offsets,
                      const __nv_bfloat16 *w_gate, const __nv_bfloat16 *w_up, __nv_bfloat16 *out,
                      int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
                      cudaStream_t stream)
{
    const int64_t down = (tokens + ROWS - 1) / ROWS; /* tiles, if one expert has all the rows */
    const dim3 grid((unsigned)((inter_dim + COLS - 1) / COLS), (unsigned)experts,
                    (unsigned)(down < 64 ? down : 64));

    project<<<grid, THREADS, 0, stream>>>(hidden, expert_offsets, w_gate, w_up, out, hidden_dim,
                                          inter_dim);
    return (int)cudaGetLastError();
}
