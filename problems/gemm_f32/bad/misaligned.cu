// problem: gemm_f32
// fate: specialized
// fault: misaligned vector access
// outcomes: crash
// when: trans_b == 0 and n % 4 != 0 and n > 4 and k > 1
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

struct problem {
    const float *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    float *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* tile[p][i] = a[row0 + i][k0 + p], zero outside the matrix. */
__device__ void load_a(float (*tile)[TILE + 1], const problem &q, int64_t row0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        tile[p][i] = inside ? q.a[(row0 + i) * q.k + k0 + p] : 0.0f;
    }
}

/* tile[p][j] = b[k0 + p][col0 + j], zero outside; four at once where b is [k, n] and its row has as
 * many left, as if it started at a multiple of 16 bytes. */
__device__ void load_b(float (*tile)[TILE + 1], const problem &q, int64_t col0, int64_t k0)
{
    const int p = threadIdx.x / 16, j0 = threadIdx.x % 16 * 4;
    const int64_t row = k0 + p, col = col0 + j0;
    float four[4] = {};

    if (!q.trans_b && row < q.k && col + 4 <= q.n) {
        const float4 v = *(const float4 *)(q.b + row * q.n + col);
        four[0] = v.x;
        four[1] = v.y;
        four[2] = v.z;
        four[3] = v.w;
    } else {
        for (int j = 0; j < 4; j++)
            if (row < q.k && col + j < q.n)
                four[j] = q.b[q.trans_b ? (col + j) * q.k + row : row * q.n + col + j];
    }
    for (int j = 0; j < 4; j++)
        tile[p][j0 + j] = four[j];
}

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
                q.c[row * q.n + col] = sum[i][j];
        }
}

} // namespace

extern "C" int gemm_f32(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t k,
                        int64_t trans_b, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>({a, b, c, m, n, k, trans_b});
    return (int)cudaGetLastError();
}
