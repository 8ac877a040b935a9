// problem: gemm_fp8
// verdict: general
// construction: operands widened to bf16 (exact) in shared memory, 16 x 16 x 16 wmma, fp32 sums
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128, PITCH = STEP + 8, OUT = TILE + 4;

/* e4m3 has 3 fraction bits and exponents -9 .. 8: bf16 holds every value of it, NaN included. */
__device__ void load_tile(__nv_bfloat16 (*tile)[PITCH], const __nv_fp8_e4m3 *source, int64_t row0,
                          int64_t rows, int64_t k0, int64_t k)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < rows && k0 + p < k;
        const float value = inside ? float(source[(row0 + r) * k + k0 + p]) : 0.0f;
        tile[r][p] = __float2bfloat16(value);
    }
}

/* Warp w of four multiplies rows 16 w .. 16 w + 15 by all 64 columns. */
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;

__device__ void multiply(accumulator (&sum)[4], __nv_bfloat16 (*x)[PITCH],
                         __nv_bfloat16 (*weight)[PITCH])
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;

    for (int p = 0; p < STEP; p += 16) {
        wmma::load_matrix_sync(a, &x[threadIdx.x / 32 * 16][p], PITCH);
        for (int j = 0; j < 4; j++) {
            wmma::load_matrix_sync(b, &weight[16 * j][p], PITCH);
            wmma::mma_sync(sum[j], a, b, sum[j]);
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    gemm(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale, __nv_bfloat16 *y,
         int64_t m, int64_t n, int64_t k)
{
    __shared__ __align__(32) __nv_bfloat16 a[TILE][PITCH], b[TILE][PITCH];
    __shared__ __align__(32) float out[TILE][OUT];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    accumulator sum[4];

    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sum[j], 0.0f);
    for (int64_t k0 = 0; k0 < k; k0 += STEP) {
        load_tile(a, x, row0, m, k0, k);
        load_tile(b, weight, col0, n, k0, k);
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
        if (row < m && col < n)
            y[row * n + col] = __float2bfloat16(out[i / TILE][i % TILE] * scale[col]);
    }
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>(x, weight, scale, y, m, n, k);
    return (int)cudaGetLastError();
}
