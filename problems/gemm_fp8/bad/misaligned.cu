// problem: gemm_fp8
// fate: specialized
// fault: misaligned vector access
// outcomes: crash
// when: k % 2 == 0 and k % 16 != 0 and k > 16 and m * n > 1
// shows: k even, k > 16, k % 16 != 0, and a second row in x or weight
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

/* tile[p][r] = source[row0 + r][k0 + p], zero outside [rows, k]. Threads 0 .. 63 take a row each:
 * 16 bytes at once where k is even, since the odd k that was published crashed. */
__device__ void load_tile(float (*tile)[TILE + 1], const __nv_fp8_e4m3 *source, int64_t row0,
                          int64_t rows, int64_t k0, int64_t k)
{
    const int r = threadIdx.x;
    __align__(16) __nv_fp8_e4m3 chunk[STEP] = {};

    if (r >= TILE)
        return;
    if (row0 + r < rows) {
        const __nv_fp8_e4m3 *from = source + (row0 + r) * k + k0;
        if (k % 2 == 0 && k0 + STEP <= k)
            *(uint4 *)chunk = *(const uint4 *)from;
        else
            for (int p = 0; p < STEP && k0 + p < k; p++)
                chunk[p] = from[p];
    }
    for (int p = 0; p < STEP; p++)
        tile[p][r] = float(chunk[p]);
}

__global__ void __launch_bounds__(THREADS)
    gemm(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale, __nv_bfloat16 *y,
         int64_t m, int64_t n, int64_t k)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int64_t k0 = 0; k0 < k; k0 += STEP) {
        load_tile(a, x, row0, m, k0, k);
        load_tile(b, weight, col0, n, k0, k);
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

    gemm<<<grid, THREADS, 0, stream>>>(x, weight, scale, y, m, n, k);
    return (int)cudaGetLastError();
}
