// problem: gemm_w4a16
// verdict: specialized
// fault: race
// outcomes: wrong unstable
// when: (m + 63) / 64 * ((n + 63) / 64) < 64 and k >= 1024
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

/* tile[p][r] = x[row0 + r][k0 + p], zero outside x and from `last` on */
__device__ void load_x(float (*tile)[TILE + 1], const problem &g, int64_t row0, int64_t k0,
                       int64_t last)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < g.m && k0 + p < last;
        tile[p][r] = inside ? __bfloat162float(g.x[(row0 + r) * g.k + k0 + p]) : 0.0f;
    }
}

/* tile[p][c] = w[k0 + p][col0 + c], zero outside w; a thread takes both nibbles of its bytes */
__device__ void load_w(float (*tile)[TILE + 1], const problem &g, int64_t col0, int64_t k0)
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
        tile[p][c] = low;
        tile[p + 1][c] = high;
    }
}

/* total += the sums over slice z of k: plain additions, though the slices run at the same time. */
__global__ void __launch_bounds__(THREADS) gemm(problem g)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t last = g.k / 2 * (blockIdx.z + 1) / gridDim.z * 2;
    float sum[4][4] = {};

    for (int64_t k0 = g.k / 2 * blockIdx.z / gridDim.z * 2; k0 < last; k0 += STEP) {
        load_x(a, g, row0, k0, last);
        load_w(b, g, col0, k0);
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
                g.total[row * g.n + col] += sum[i][j];
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
    const int64_t tiles_m = (m + TILE - 1) / TILE, tiles_n = (n + TILE - 1) / TILE;
    const unsigned slices = tiles_m * tiles_n < 64 && k >= 1024 ? 8 : 1; /* too few tiles: cut k */
    const dim3 grid((unsigned)tiles_n, (unsigned)tiles_m, slices);
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
