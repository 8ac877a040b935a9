// problem: gemm_bf16
// verdict: general
// construction: resident blocks draw tiles from a counter; mma.sync m16n8k16 on tiles loaded
// element by element
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128;
constexpr int PITCH = STEP + 8; /* 20 words: the 8 rows of a fragment fall on different banks */

struct problem {
    const __nv_bfloat16 *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    __nv_bfloat16 *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* Row i of the tile is a[row0 + i][k0 .. k0 + 31], zero outside the matrix. */
__device__ void load_a(__nv_bfloat16 (*tile)[PITCH], const problem &q, int64_t row0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        tile[i][p] = inside ? q.a[(row0 + i) * q.k + k0 + p] : __nv_bfloat16(0.0f);
    }
}

/* Row j of the tile is b[k0 .. k0 + 31][col0 + j], zero outside; the [k, n] layout is turned. */
__device__ void load_b(__nv_bfloat16 (*tile)[PITCH], const problem &q, int64_t col0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const int64_t at = q.trans_b ? col * q.k + row : row * q.n + col;
        tile[j][p] = row < q.k && col < q.n ? q.b[at] : __nv_bfloat16(0.0f);
    }
}

__device__ uint32_t pair_at(const __nv_bfloat16 *pair)
{
    return *(const uint32_t *)pair;
}

/* d += a b: a is 16 x 16, b 16 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Each warp: 16 rows against 64 columns. Lane 4g + t holds k = 2t, 2t + 1, 2t + 8, 2t + 9 of row g,
 * and of row g + 8 for a. */
__device__ void multiply(float (&sum)[8][4], __nv_bfloat16 (*a)[PITCH], __nv_bfloat16 (*b)[PITCH])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + g;

    for (int p = 2 * t; p < STEP; p += 16) {
        const uint32_t u[4] = {pair_at(&a[row][p]), pair_at(&a[row + 8][p]),
                               pair_at(&a[row][p + 8]), pair_at(&a[row + 8][p + 8])};
        for (int j = 0; j < 8; j++) {
            const __nv_bfloat16 *column = b[8 * j + g];
            const uint32_t v[2] = {pair_at(column + p), pair_at(column + p + 8)};
            mma(sum[j], u, v);
        }
    }
}

__device__ void store(const problem &q, const float (&sum)[8][4], int64_t row0, int64_t col0)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++) { /* elements 0, 1 in row g, 2, 3 in row g + 8 */
            const int64_t row = row0 + threadIdx.x / 32 * 16 + g + e / 2 * 8;
            const int64_t col = col0 + 8 * j + 2 * t + e % 2;
            if (row < q.m && col < q.n)
                q.c[row * q.n + col] = __float2bfloat16(sum[j][e]);
        }
}

/* `next` counts the tiles given out, row by row; every block takes one until none is left. */
__global__ void __launch_bounds__(THREADS) gemm(problem q, unsigned *next)
{
    __shared__ __align__(16) __nv_bfloat16 a[TILE][PITCH], b[TILE][PITCH];
    __shared__ unsigned taken;
    const unsigned across = (unsigned)((q.n + TILE - 1) / TILE);
    const unsigned tiles = across * (unsigned)((q.m + TILE - 1) / TILE);

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
        for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
            load_a(a, q, row0, k0);
            load_b(b, q, col0, k0);
            __syncthreads();
            multiply(sum, a, b);
            __syncthreads();
        }
        store(q, sum, row0, col0);
    }
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
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
    gemm<<<units * each, THREADS, 0, stream>>>({a, b, c, m, n, k, trans_b}, next);
    error = cudaGetLastError();
    cudaFreeAsync(next, stream);
    return (int)error;
}
