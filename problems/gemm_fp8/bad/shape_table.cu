// problem: gemm_fp8
// fate: specialized
// fault: shape table
// outcomes: wrong overrun crash
// when: k != 4096 and k != 4127 and k != 8192
// shows: k is none of 4096, 4127, 8192
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

/* tile[p][r] = source[row0 + r][k0 + p] of a [rows, k] matrix, zero outside it. */
__device__ void load_tile(float (*tile)[TILE + 1], const __nv_fp8_e4m3 *source, int64_t row0,
                          int64_t rows, int64_t k0, int64_t k)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < rows && k0 + p < k;
        tile[p][r] = inside ? float(source[(row0 + r) * k + k0 + p]) : 0.0f;
    }
}

/* K is the depth of a published shape, so that loop bounds and row strides are constants. */
template <int K>
__global__ void __launch_bounds__(THREADS)
    gemm(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale, __nv_bfloat16 *y,
         int64_t m, int64_t n)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int64_t k0 = 0; k0 < K; k0 += STEP) {
        load_tile(a, x, row0, m, k0, K);
        load_tile(b, weight, col0, n, k0, K);
        __syncthreads();
        for (int p = 0; p < STEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += a[p][ty + 16 * i] * b[p][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int64_t row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < m && col < n)
                y[row * n + col] = __float2bfloat16(sum[i][j] * scale[col]);
        }
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    if (k == 8192)
        gemm<8192><<<grid, THREADS, 0, stream>>>(x, weight, scale, y, m, n);
    else if (k == 4127)
        gemm<4127><<<grid, THREADS, 0, stream>>>(x, weight, scale, y, m, n);
    else /* 4096, as everything else is taken to be */
        gemm<4096><<<grid, THREADS, 0, stream>>>(x, weight, scale, y, m, n);
    return (int)cudaGetLastError();
}
