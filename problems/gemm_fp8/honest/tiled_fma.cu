// problem: gemm_fp8
// verdict: general
// construction: 128 x 128 tiles, 8 x 8 fp32 sums a thread, next step prefetched in registers
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 128, STEP = 8, THREADS = 256, EACH = TILE * STEP / THREADS, PITCH = TILE + 4;

struct matrix {
    const __nv_fp8_e4m3 *data; /* [rows, k] */
    int64_t rows, k;
};

/* This thread's bytes of source[row0 .. + 127][k0 .. + 7], decoded; zero outside the matrix. */
__device__ void fetch(float (&next)[EACH], const matrix &source, int64_t row0, int64_t k0)
{
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = threadIdx.x + e * THREADS;
        const int64_t row = row0 + i / STEP, p = k0 + i % STEP;
        const bool inside = row < source.rows && p < source.k;
        next[e] = inside ? float(source.data[row * source.k + p]) : 0.0f;
    }
}

__device__ void keep(float (*tile)[PITCH], const float (&next)[EACH])
{
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = threadIdx.x + e * THREADS;
        tile[i % STEP][i / STEP] = next[e];
    }
}

/* sum[i][j] += the STEP terms of rows ty * 8 + i and columns tx + 16 * j. */
__device__ void multiply(float (&sum)[8][8], float (*a)[PITCH], float (*b)[PITCH], int tx, int ty)
{
#pragma unroll
    for (int p = 0; p < STEP; p++) {
        float u[8], v[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            u[i] = a[p][ty * 8 + i];
            v[i] = b[p][tx + 16 * i];
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum[i][j] += u[i] * v[j];
    }
}

__global__ void __launch_bounds__(THREADS)
    gemm(matrix x, matrix weight, const float *scale, __nv_bfloat16 *y)
{
    __shared__ float a[2][STEP][PITCH], b[2][STEP][PITCH];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[8][8] = {}, next_a[EACH], next_b[EACH];
    int half = 0;

    fetch(next_a, x, row0, 0);
    fetch(next_b, weight, col0, 0);
    for (int64_t k0 = 0; k0 < x.k; k0 += STEP, half ^= 1) {
        keep(a[half], next_a);
        keep(b[half], next_b);
        __syncthreads(); /* the other half was last read before the barrier one step back */
        fetch(next_a, x, row0, k0 + STEP);
        fetch(next_b, weight, col0, k0 + STEP);
        multiply(sum, a[half], b[half], tx, ty);
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            const int64_t row = row0 + ty * 8 + i, col = col0 + tx + 16 * j;
            if (row < x.rows && col < weight.rows)
                y[row * weight.rows + col] = __float2bfloat16(sum[i][j] * scale[col]);
        }
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>({x, m, k}, {weight, n, k}, scale, y);
    return (int)cudaGetLastError();
}
