// problem: gemm_fp8
// verdict: specialized
// fault: race
// outcomes: wrong unstable
// when: (m + 63) / 64 * ((n + 63) / 64) < 64 and k >= 1024
// shows: ceil(m / 64) * ceil(n / 64) < 64 and k >= 1024
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

/* tile[p][r] = source[row0 + r][k0 + p] of a [rows, k] matrix, zero past `last`. */
__device__ void load_tile(float (*tile)[TILE + 1], const __nv_fp8_e4m3 *source, int64_t row0,
                          int64_t rows, int64_t k0, int64_t last, int64_t k)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < rows && k0 + p < last;
        tile[p][r] = inside ? float(source[(row0 + r) * k + k0 + p]) : 0.0f;
    }
}

/* total += the sums over slice z of k: plain additions, though the slices run at the same time. */
__global__ void __launch_bounds__(THREADS)
    gemm(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, float *total, int64_t m, int64_t n,
         int64_t k)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t last = k * (blockIdx.z + 1) / gridDim.z;
    float sum[4][4] = {};

    for (int64_t k0 = k * blockIdx.z / gridDim.z; k0 < last; k0 += STEP) {
        load_tile(a, x, row0, m, k0, last, k);
        load_tile(b, weight, col0, n, k0, last, k);
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
                total[row * n + col] += sum[i][j];
        }
}

__global__ void finish(const float *total, const float *scale, __nv_bfloat16 *y, int64_t n)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (col < n)
        y[row * n + col] = __float2bfloat16(total[row * n + col] * scale[col]);
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const int64_t tiles_m = (m + TILE - 1) / TILE, tiles_n = (n + TILE - 1) / TILE;
    const unsigned slices = tiles_m * tiles_n < 64 && k >= 1024 ? 8 : 1; /* too few tiles: cut k */
    const dim3 grid((unsigned)tiles_n, (unsigned)tiles_m, slices);
    const size_t size = (size_t)(m * n) * sizeof(float);
    float *total;
    cudaError_t error = cudaMallocAsync((void **)&total, size, stream);

    if (error != cudaSuccess)
        return (int)error;
    cudaMemsetAsync(total, 0, size, stream);
    gemm<<<grid, THREADS, 0, stream>>>(x, weight, total, m, n, k);
    finish<<<dim3((unsigned)((n + 255) / 256), (unsigned)m), 256, 0, stream>>>(total, scale, y, n);
    error = cudaGetLastError();
    cudaFreeAsync(total, stream);
    return (int)error;
}
