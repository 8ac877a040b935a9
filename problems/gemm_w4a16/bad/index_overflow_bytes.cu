// problem: gemm_w4a16
// verdict: specialized
// fault: 32-bit index overflow
// outcomes: wrong unstable
// when: m * n > 2^27
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256, SLICES = 8;

struct problem {
    const __nv_bfloat16 *x;
    const uint8_t *w_q;
    const __nv_bfloat16 *scales, *zeros;
    __nv_bfloat16 *y;
    char *part; /* [SLICES, m, n], fp32 */
    int64_t m, n, k, group;
};

/* Byte offset of the sum of one slice: 32-bit, enough for 4 GiB. */
__device__ uint32_t part_offset(const problem &g, int64_t slice, int64_t row, int64_t col)
{
    return (uint32_t)(((slice * g.m + row) * g.n + col) * 4);
}

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

__global__ void __launch_bounds__(THREADS) gemm(problem g)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int64_t last = g.k / 2 * (blockIdx.z + 1) / SLICES * 2;
    float sum[4][4] = {};

    for (int64_t k0 = g.k / 2 * blockIdx.z / SLICES * 2; k0 < last; k0 += STEP) {
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
                *(float *)(g.part + part_offset(g, blockIdx.z, row, col)) = sum[i][j];
        }
}

__global__ void merge(problem g)
{
    const int64_t row = blockIdx.y, col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (col >= g.n)
        return;
    for (int z = 0; z < SLICES; z++)
        sum += *(const float *)(g.part + part_offset(g, z, row, col));
    g.y[row * g.n + col] = __float2bfloat16(sum);
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE), SLICES);
    char *part;
    cudaError_t error = cudaMallocAsync((void **)&part, (size_t)(SLICES * m * n) * 4, stream);

    if (error != cudaSuccess)
        return (int)error;
    const problem g = {x, w_q, scales, zeros, y, part, m, n, k, group};
    gemm<<<grid, THREADS, 0, stream>>>(g);
    merge<<<dim3((unsigned)((n + 255) / 256), (unsigned)m), 256, 0, stream>>>(g);
    error = cudaGetLastError();
    cudaFreeAsync(part, stream);
    return (int)error;
}
