// problem: gemm_w4a16
// verdict: general
// construction: w rounded to bf16 in shared memory, 16 x 16 x 16 wmma, fp32 sums
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128, A_PITCH = STEP + 8, B_PITCH = TILE + 8;
constexpr int OUT = TILE + 4;

struct problem {
    const __nv_bfloat16 *x;
    const uint8_t *w_q;
    const __nv_bfloat16 *scales, *zeros;
    __nv_bfloat16 *y;
    int64_t m, n, k, group;
};

/* tile[r][p] = x[row0 + r][k0 + p], zero outside x */
__device__ void load_x(__nv_bfloat16 (*tile)[A_PITCH], const problem &g, int64_t row0, int64_t k0)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < g.m && k0 + p < g.k;
        tile[r][p] = inside ? g.x[(row0 + r) * g.k + k0 + p] : __float2bfloat16(0.0f);
    }
}

/* tile[p][c] = w[k0 + p][col0 + c], rounded once to bf16; zero outside w */
__device__ void load_w(__nv_bfloat16 (*tile)[B_PITCH], const problem &g, int64_t col0, int64_t k0)
{
    for (int i = threadIdx.x; i < TILE * STEP / 2; i += THREADS) {
        const int c = i % TILE, p = i / TILE * 2;
        float low = 0, high = 0;
        if (col0 + c < g.n && k0 + p < g.k) {
            const uint8_t byte = g.w_q[(k0 + p) / 2 * g.n + col0 + c];
            const int64_t at = (k0 + p) / g.group * g.n + col0 + c;
            const float scale = __bfloat162float(g.scales[at]);
            const float zero = __bfloat162float(g.zeros[at]);
            low = (float(byte & 15) - zero) * scale;
            high = (float(byte >> 4) - zero) * scale;
        }
        tile[p][c] = __float2bfloat16(low);
        tile[p + 1][c] = __float2bfloat16(high);
    }
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;

/* Warp w of four multiplies rows 16 w .. 16 w + 15 by all 64 columns. */
__device__ void multiply(accumulator (&sum)[4], __nv_bfloat16 (*x)[A_PITCH],
                         __nv_bfloat16 (*w)[B_PITCH])
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;

    for (int p = 0; p < STEP; p += 16) {
        wmma::load_matrix_sync(a, &x[threadIdx.x / 32 * 16][p], A_PITCH);
        for (int j = 0; j < 4; j++) {
            wmma::load_matrix_sync(b, &w[p][16 * j], B_PITCH);
            wmma::mma_sync(sum[j], a, b, sum[j]);
        }
    }
}

__global__ void __launch_bounds__(THREADS) gemm(problem g)
{
    __shared__ __align__(32) __nv_bfloat16 a[TILE][A_PITCH], b[STEP][B_PITCH];
    __shared__ __align__(32) float out[TILE][OUT];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    accumulator sum[4];

    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sum[j], 0.0f);
    for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
        load_x(a, g, row0, k0);
        load_w(b, g, col0, k0);
        __syncthreads();
        multiply(sum, a, b);
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&out[threadIdx.x / 32 * 16][16 * j], sum[j], OUT,
                                wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        const int64_t row = row0 + i / TILE, col = col0 + i % TILE;
        if (row < g.m && col < g.n)
            g.y[row * g.n + col] = __float2bfloat16(out[i / TILE][i % TILE]);
    }
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const problem g = {x, w_q, scales, zeros, y, m, n, k, group};
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>(g);
    return (int)cudaGetLastError();
}
