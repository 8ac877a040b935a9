// problem: gemm_w4a16
// verdict: general
// construction: k cut into slices, fp32 FMA tiles, slices added up by atomics in an fp32 workspace
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

struct problem {
    const __nv_bfloat16 *x;
    const uint8_t *w_q;
    const __nv_bfloat16 *scales, *zeros;
    __nv_bfloat16 *y;
    float *total; /* [m, n], cleared */
    int64_t m, n, k, group;
};

/* a[p][r] = x[row0 + r][k0 + p], b[p][c] = w[k0 + p][col0 + c]; zero outside and from `last` on. */
__device__ void load(const problem &g, float (*a)[TILE + 1], float (*b)[TILE + 1], int64_t row0,
                     int64_t col0, int64_t k0, int64_t last)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < g.m && k0 + p < last;
        a[p][r] = inside ? __bfloat162float(g.x[(row0 + r) * g.k + k0 + p]) : 0.0f;
    }
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int c = i % TILE, p = i / TILE;
        float w = 0;
        if (col0 + c < g.n && k0 + p < last) {
            const int64_t at = (k0 + p) / g.group * g.n + col0 + c;
            const int byte = g.w_q[(k0 + p) / 2 * g.n + col0 + c];
            const float q = float(p % 2 ? byte >> 4 : byte & 15); /* k0 is even */
            w = (q - __bfloat162float(g.zeros[at])) * __bfloat162float(g.scales[at]);
        }
        b[p][c] = w;
    }
}

__global__ void __launch_bounds__(THREADS) gemm(problem g)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t pairs = g.k / 2, last = pairs * (blockIdx.z + 1) / gridDim.z * 2;
    float sum[4][4] = {};

    for (int64_t k0 = pairs * blockIdx.z / gridDim.z * 2; k0 < last; k0 += STEP) {
        load(g, a, b, row0, col0, k0, last);
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
            if (row < g.m && col < g.n)
                atomicAdd(g.total + row * g.n + col, sum[i][j]);
        }
}

__global__ void finish(problem g)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (col < g.n)
        g.y[row * g.n + col] = __float2bfloat16(g.total[row * g.n + col]);
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const unsigned slices = k / 256 < 1 ? 1 : k / 256 < 8 ? (unsigned)(k / 256) : 8;
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE), slices);
    const size_t size = (size_t)(m * n) * sizeof(float);
    float *total;
    cudaError_t error = cudaMallocAsync((void **)&total, size, stream);

    if (error != cudaSuccess)
        return (int)error;
    const problem g = {x, w_q, scales, zeros, y, total, m, n, k, group};
    cudaMemsetAsync(total, 0, size, stream);
    gemm<<<grid, THREADS, 0, stream>>>(g);
    finish<<<dim3((unsigned)((n + 255) / 256), (unsigned)m), 256, 0, stream>>>(g);
    error = cudaGetLastError();
    cudaFreeAsync(total, stream);
    return (int)error;
}
