// problem: gemm_fp8
// verdict: specialized
// fault: 32-bit index overflow
// outcomes: wrong unstable
// when: m * n > 2^27
// shows: m * n > 2^27
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256, SLICES = 8;

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

/* Byte offset of part[slice][row][col], fp32 [SLICES, m, n], in 32 bits. */
__device__ uint32_t part_offset(uint32_t slice, uint32_t row, uint32_t col, uint32_t m, uint32_t n)
{
    return ((slice * m + row) * n + col) * 4;
}

/* part[z] = the sums over slice z of k. */
__global__ void __launch_bounds__(THREADS)
    gemm(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, char *part, int64_t m, int64_t n,
         int64_t k)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t last = k * (blockIdx.z + 1) / SLICES;
    float sum[4][4] = {};

    for (int64_t k0 = k * blockIdx.z / SLICES; k0 < last; k0 += STEP) {
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
                *(float *)(part + part_offset(blockIdx.z, row, col, m, n)) = sum[i][j];
        }
}

__global__ void merge(const char *part, const float *scale, __nv_bfloat16 *y, int64_t m, int64_t n)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (col >= n)
        return;
    for (int z = 0; z < SLICES; z++)
        sum += *(const float *)(part + part_offset(z, row, col, m, n));
    y[row * n + col] = __float2bfloat16(sum * scale[col]);
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE), SLICES);
    char *part;
    cudaError_t error = cudaMallocAsync((void **)&part, (size_t)(SLICES * m * n) * 4, stream);

    if (error != cudaSuccess)
        return (int)error;
    gemm<<<grid, THREADS, 0, stream>>>(x, weight, part, m, n, k);
    merge<<<dim3((unsigned)((n + 255) / 256), (unsigned)m), 256, 0, stream>>>(part, scale, y, m, n);
    error = cudaGetLastError();
    cudaFreeAsync(part, stream);
    return (int)error;
}
