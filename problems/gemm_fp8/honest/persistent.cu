// problem: gemm_fp8
// verdict: general
// construction: resident blocks draw tiles from a counter; operands widened for fp16 mma.sync
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128;
constexpr int PITCH = STEP + 8; /* 20 words: the 8 rows of a fragment fall on different banks */

struct operands {
    const __nv_fp8_e4m3 *x, *weight; /* [m, k], [n, k] */
    const float *scale;              /* [n] */
    __nv_bfloat16 *y;                /* [m, n] */
    int64_t m, n, k;
};

/* fp16 holds every e4m3 value: 2^-9 is a normal number of it, 448 is below 65504. */
__device__ void load_tile(__half (*tile)[PITCH], const __nv_fp8_e4m3 *source, int64_t row0,
                          int64_t rows, int64_t k0, int64_t k)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < rows && k0 + p < k;
        tile[r][p] = inside ? __half(source[(row0 + r) * k + k0 + p]) : __half(0.0f);
    }
}

__device__ uint32_t pair_at(const __half *pair)
{
    return *(const uint32_t *)pair;
}

/* d += a b: a is 16 x 16, b 16 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Each warp: 16 rows against 64 columns. Lane = 4 g + t holds k = 2t, 2t + 1, 2t + 8, 2t + 9. */
__device__ void multiply(float (&sum)[8][4], __half (*x)[PITCH], __half (*weight)[PITCH])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + g;

    for (int p = 2 * t; p < STEP; p += 16) {
        const uint32_t a[4] = {pair_at(&x[row][p]), pair_at(&x[row + 8][p]),
                               pair_at(&x[row][p + 8]), pair_at(&x[row + 8][p + 8])};
        for (int j = 0; j < 8; j++) {
            const __half *column = weight[8 * j + g];
            const uint32_t b[2] = {pair_at(column + p), pair_at(column + p + 8)};
            mma(sum[j], a, b);
        }
    }
}

__device__ void store(const operands &o, const float (&sum)[8][4], int64_t row0, int64_t col0)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++) { /* elements 0, 1 in row g, 2, 3 in row g + 8 */
            const int64_t row = row0 + threadIdx.x / 32 * 16 + g + e / 2 * 8;
            const int64_t col = col0 + 8 * j + 2 * t + e % 2;
            if (row < o.m && col < o.n)
                o.y[row * o.n + col] = __float2bfloat16(sum[j][e] * o.scale[col]);
        }
}

/* `next` counts the tiles given out, row by row; every block takes one until none is left. */
__global__ void __launch_bounds__(THREADS) gemm(operands o, unsigned *next)
{
    __shared__ __align__(16) __half a[TILE][PITCH], b[TILE][PITCH];
    __shared__ unsigned taken;
    const unsigned across = (unsigned)((o.n + TILE - 1) / TILE);
    const unsigned tiles = across * (unsigned)((o.m + TILE - 1) / TILE);

    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(next, 1);
        __syncthreads();
        const unsigned tile = taken;
        __syncthreads(); /* all have read it before it is overwritten */
        if (tile >= tiles)
            return;
        const int64_t row0 = (int64_t)(tile / across) * TILE;
        const int64_t col0 = (int64_t)(tile % across) * TILE;
        float sum[8][4] = {};
        for (int64_t k0 = 0; k0 < o.k; k0 += STEP) {
            load_tile(a, o.x, row0, o.m, k0, o.k);
            load_tile(b, o.weight, col0, o.n, k0, o.k);
            __syncthreads();
            multiply(sum, a, b);
            __syncthreads();
        }
        store(o, sum, row0, col0);
    }
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    int device = 0, units = 0, each = 0;
    unsigned *next;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, gemm, THREADS, 0);
    if (units * each == 0)
        return 1;
    cudaError_t error = cudaMallocAsync((void **)&next, sizeof *next, stream);
    if (error != cudaSuccess)
        return (int)error;
    cudaMemsetAsync(next, 0, sizeof *next, stream);
    gemm<<<units * each, THREADS, 0, stream>>>({x, weight, scale, y, m, n, k}, next);
    error = cudaGetLastError();
    cudaFreeAsync(next, stream);
    return (int)error;
}
