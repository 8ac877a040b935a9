// problem: gemm_f32
// verdict: broken
// fault: lower precision
// outcomes: wrong
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 128, PITCH = TILE + 4;

struct problem {
    const float *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    float *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* tile[p][i] = a[row0 + i][k0 + p], zero outside the matrix. */
__device__ void load_a(float (*tile)[PITCH], const problem &q, int64_t row0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        tile[p][i] = inside ? q.a[(row0 + i) * q.k + k0 + p] : 0.0f;
    }
}

/* tile[p][j] = b[k0 + p][col0 + j], zero outside; reads run along the rows of memory. */
__device__ void load_b(float (*tile)[PITCH], const problem &q, int64_t col0, int64_t k0)
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const bool inside = row < q.k && col < q.n;
        tile[p][j] = inside ? q.b[q.trans_b ? col * q.k + row : row * q.n + col] : 0.0f;
    }
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 8, float> accumulator;

/* Warp w: rows 16 w .. 16 w + 15 by all 64 columns, operands rounded to tf32. */
__device__ void multiply(accumulator (&sum)[4], float (*a)[PITCH], float (*b)[PITCH])
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major> u;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> v;

    for (int p = 0; p < STEP; p += 8) {
        wmma::load_matrix_sync(u, &a[p][threadIdx.x / 32 * 16], PITCH);
        for (int e = 0; e < u.num_elements; e++)
            u.x[e] = wmma::__float_to_tf32(u.x[e]);
        for (int j = 0; j < 4; j++) {
            wmma::load_matrix_sync(v, &b[p][16 * j], PITCH);
            for (int e = 0; e < v.num_elements; e++)
                v.x[e] = wmma::__float_to_tf32(v.x[e]);
            wmma::mma_sync(sum[j], u, v, sum[j]);
        }
    }
}

__global__ void __launch_bounds__(THREADS) gemm(problem q)
{
    __shared__ __align__(32) float a[STEP][PITCH], b[STEP][PITCH], out[TILE][PITCH];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    accumulator sum[4];

    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sum[j], 0.0f);
    for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
        load_a(a, q, row0, k0);
        load_b(b, q, col0, k0);
        __syncthreads();
        multiply(sum, a, b);
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&out[threadIdx.x / 32 * 16][16 * j], sum[j], PITCH,
                                wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
        const int64_t row = row0 + e / TILE, col = col0 + e % TILE;
        if (row < q.m && col < q.n)
            q.c[row * q.n + col] = out[e / TILE][e % TILE];
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
