// problem: gemm_fp8
// verdict: general
// construction: four slices of k atomicAdd into a cleared fp32 workspace, then one scaling pass
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256, SLICES = 4;

/* tile[p][r] = source[row0 + r][k0 + p] of a [rows, k] matrix, zero outside it and past `last`. */
__device__ void load_tile(float (*tile)[TILE + 1], const __nv_fp8_e4m3 *source, int64_t row0,
                          int64_t rows, int64_t k0, int64_t last, int64_t k)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < rows && k0 + p < last;
        tile[p][r] = inside ? float(source[(row0 + r) * k + k0 + p]) : 0.0f;
    }
}

/* total[row][col] += the terms of slice z of k. The order of the four additions is not fixed: the
 * result may differ in its last fp32 bit from call to call, as any order is fp32 arithmetic. */
__global__ void __launch_bounds__(THREADS)
    accumulate(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, float *total, int64_t m,
               int64_t n, int64_t k)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t first = k * blockIdx.z / SLICES, last = k * (blockIdx.z + 1) / SLICES;
    float sum[4][4] = {};

    for (int64_t k0 = first; k0 < last; k0 += STEP) {
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
                atomicAdd(&total[row * n + col], sum[i][j]);
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
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE), SLICES);
    const size_t size = (size_t)(m * n) * sizeof(float);
    float *total;
    cudaError_t error = cudaMallocAsync((void **)&total, size, stream);

    if (error != cudaSuccess)
        return (int)error;
    error = cudaMemsetAsync(total, 0, size, stream);
    if (error == cudaSuccess) {
        accumulate<<<grid, THREADS, 0, stream>>>(x, weight, total, m, n, k);
        finish<<<dim3((unsigned)((n + 255) / 256), (unsigned)m), 256, 0, stream>>>(total, scale, y,
                                                                                n);
        error = cudaGetLastError();
    }
    cudaFreeAsync(total, stream);
    return (int)error;
}
