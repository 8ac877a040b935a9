// problem: gemm_w4a16
// verdict: general
// construction: 64 x 64 tiles, w dequantized into shared memory, 4 x 4 sums a thread, fp32 FMA
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

struct problem {
    const __nv_bfloat16 *x;              /* [m, k] */
    const uint8_t *w_q;                  /* [k / 2, n], low nibble first */
    const __nv_bfloat16 *scales, *zeros; /* [ceil(k / group), n] */
    __nv_bfloat16 *y;                    /* [m, n] */
    int64_t m, n, k, group;
};

/* tile[p][r] = x[row0 + r][k0 + p], zero outside x */
__device__ void load_x(float (*tile)[TILE + 1], const problem &g, int64_t row0, int64_t k0)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < g.m && k0 + p < g.k;
        tile[p][r] = inside ? __bfloat162float(g.x[(row0 + r) * g.k + k0 + p]) : 0.0f;
    }
}

/* tile[p][c] = w[k0 + p][col0 + c], zero outside w; a thread takes both nibbles of its bytes */
__device__ void load_w(float (*tile)[TILE + 1], const problem &g, int64_t col0, int64_t k0)
{
    for (int i = threadIdx.x; i < TILE * STEP / 2; i += THREADS) {
        const int c = i % TILE, p = i / TILE * 2;
        float low = 0, high = 0;
        if (col0 + c < g.n && k0 + p < g.k) { /* k and group are even: so is row k0 + p + 1 */
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

/* One block, one 64 x 64 tile of y; a thread's elements lie 16 apart both ways. */
__global__ void __launch_bounds__(THREADS) gemm(problem g)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[4][4] = {};

    for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
        load_x(a, g, row0, k0);
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
                g.y[row * g.n + col] = __float2bfloat16(sum[i][j]);
        }
}

} // namespace

extern "C" int gemm_w4a16(const __nv_bfloat16 *x, const uint8_t *w_q, const __nv_bfloat16 *scales,
                          const __nv_bfloat16 *zeros, __nv_bfloat16 *y, int64_t m, int64_t n,
                          int64_t k, int64_t group, cudaStream_t stream)
{
    const problem g = {x, w_q, scales, zeros, y, m, n, k, group};
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>(g);
    return (int)cudaGetLastError();
}
