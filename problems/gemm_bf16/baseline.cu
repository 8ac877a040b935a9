// problem: gemm_bf16
// verdict: general
// construction: 64 x 64 tiles staged in shared memory as fp32, 4 x 4 sums a thread, fp32 FMA
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

struct problem {
    const __nv_bfloat16 *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    __nv_bfloat16 *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* tile[p][i] = a[row0 + i][k0 + p], zero outside the matrix. */
__device__ void load_a(float (*tile)[TILE + 1], const problem &q, int64_t row0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        tile[p][i] = inside ? float(q.a[(row0 + i) * q.k + k0 + p]) : 0.0f;
    }
}

/* tile[p][j] = b[k0 + p][col0 + j], zero outside; reads run along the rows of memory. */
__device__ void load_b(float (*tile)[TILE + 1], const problem &q, int64_t col0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const bool inside = row < q.k && col < q.n;
        tile[p][j] = inside ? float(q.b[q.trans_b ? col * q.k + row : row * q.n + col]) : 0.0f;
    }
}

/* One block, one 64 x 64 tile of c; a thread's elements lie 16 apart both ways. */
__global__ void __launch_bounds__(THREADS) gemm(problem q)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
        load_a(a, q, row0, k0);
        load_b(b, q, col0, k0);
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
            if (row < q.m && col < q.n)
                q.c[row * q.n + col] = __float2bfloat16(sum[i][j]);
        }
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>({a, b, c, m, n, k, trans_b});
    return (int)cudaGetLastError();
}
