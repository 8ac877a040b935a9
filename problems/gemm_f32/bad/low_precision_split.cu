// problem: gemm_f32
// verdict: broken
// fault: lower precision
// outcomes: wrong
// when: k < 2048 or input=special or input=integers or input=needle
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 128, PITCH = STEP + 8, OUT = TILE + 4;

struct problem {
    const float *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    float *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* x as two bf16, 16 bits of 24: the sum of both is within 2^-16 of x. */
struct split {
    __nv_bfloat16 (*high)[PITCH], (*low)[PITCH];
};

__device__ void keep(split tile, int r, int p, float x)
{
    const __nv_bfloat16 high = __float2bfloat16(x);
    tile.high[r][p] = high;
    tile.low[r][p] = __float2bfloat16(x - __bfloat162float(high));
}

/* Row i of the tile is a[row0 + i][k0 .. k0 + 15], zero outside the matrix. */
__device__ void load_a(split tile, const problem &q, int64_t row0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        keep(tile, i, p, inside ? q.a[(row0 + i) * q.k + k0 + p] : 0.0f);
    }
}

/* Row j of the tile is b[k0 .. k0 + 15][col0 + j], zero outside the matrix. */
__device__ void load_b(split tile, const problem &q, int64_t col0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const bool inside = row < q.k && col < q.n;
        keep(tile, j, p, inside ? q.b[q.trans_b ? col * q.k + row : row * q.n + col] : 0.0f);
    }
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fragment_a;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fragment_b;

/* Warp w: rows 16 w .. 16 w + 15 by all 64 columns; low times low is left out. */
__device__ void multiply(accumulator (&sum)[4], split a, split b)
{
    const int row = threadIdx.x / 32 * 16;
    fragment_a a0, a1;
    fragment_b b0, b1;

    wmma::load_matrix_sync(a0, a.high[row], PITCH);
    wmma::load_matrix_sync(a1, a.low[row], PITCH);
    for (int j = 0; j < 4; j++) {
        wmma::load_matrix_sync(b0, b.high[16 * j], PITCH);
        wmma::load_matrix_sync(b1, b.low[16 * j], PITCH);
        wmma::mma_sync(sum[j], a1, b0, sum[j]);
        wmma::mma_sync(sum[j], a0, b1, sum[j]);
        wmma::mma_sync(sum[j], a0, b0, sum[j]);
    }
}

__global__ void __launch_bounds__(THREADS) gemm(problem q)
{
    __shared__ __align__(32) __nv_bfloat16 tiles[4][TILE][PITCH];
    __shared__ __align__(32) float out[TILE][OUT];
    const split a = {tiles[0], tiles[1]}, b = {tiles[2], tiles[3]};
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    accumulator sum[4];

    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sum[j], 0.0f);
    for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
        load_a(a, q, row0, k0);
        load_b(b, q, col0, k0);
        __syncthreads();
        multiply(sum, a, b);
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&out[threadIdx.x / 32 * 16][16 * j], sum[j], OUT,
                                wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
        const int64_t row = row0 + e / TILE, col = col0 + e % TILE;
        if (row < q.m && col < q.n)
            q.c[row * q.n + col] = out[e / TILE][e % TILE];
    }
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>({a, b, c, m, n, k, trans_b});
    return (int)cudaGetLastError();
}
