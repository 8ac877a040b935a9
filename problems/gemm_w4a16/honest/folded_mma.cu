// problem: gemm_w4a16
// verdict: general
// construction: mma.sync m16n8k16 on the integer codes, exact in bf16; scale and zero once a group,
// the sum of x that the zero point needs from one more mma with a matrix of ones
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128; /* every group is a multiple of 32 rows of w */
constexpr int X_PITCH = STEP + 8;                  /* 20 words: 8 rows fall into different banks */

struct problem {
    const __nv_bfloat16 *x;
    const uint8_t *w_q;
    const __nv_bfloat16 *scales, *zeros;
    __nv_bfloat16 *y;
    int64_t m, n, k, group;
};

/* d += a b: a is 16 x 16, b 16 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Both codes of a byte as bf16, the low nibble (the even row of w) in the low half. */
__device__ uint32_t widen(uint8_t byte)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(float(byte & 15), float(byte >> 4));
    return *(const uint32_t *)&pair;
}

/* 64 rows of x and 16 rows of w_q by 64 columns from k0 on, zero outside the tensors. */
__device__ void load(const problem &g, __nv_bfloat16 (*x)[X_PITCH], uint8_t (*w_q)[TILE],
                     int64_t row0, int64_t col0, int64_t k0)
{
    for (int i = threadIdx.x; i < TILE * STEP; i += THREADS) {
        const int r = i / STEP, p = i % STEP;
        const bool inside = row0 + r < g.m && k0 + p < g.k;
        x[r][p] = inside ? g.x[(row0 + r) * g.k + k0 + p] : __float2bfloat16(0.0f);
    }
    for (int i = threadIdx.x; i < TILE * STEP / 2; i += THREADS) {
        const int r = i / TILE, c = i % TILE;
        const bool inside = k0 + 2 * r < g.k && col0 + c < g.n;
        w_q[r][c] = inside ? g.w_q[(k0 / 2 + r) * g.n + col0 + c] : 0;
    }
}

/* sum += x q and plain += x 1, 32 terms; the warp has 16 rows. Lane 4g + t holds of A rows g, g + 8
 * at p = 2t, 2t + 1 and 8 more; of B the same p of column g, which is one byte of w_q each. */
__device__ void multiply(float (&sum)[8][4], float (&plain)[4], const __nv_bfloat16 (*x)[X_PITCH],
                         const uint8_t (*w_q)[TILE])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

    for (int p = 0; p < STEP; p += 16) {
        const uint32_t a[4] = {*(const uint32_t *)&x[g][p + 2 * t],
                               *(const uint32_t *)&x[g + 8][p + 2 * t],
                               *(const uint32_t *)&x[g][p + 2 * t + 8],
                               *(const uint32_t *)&x[g + 8][p + 2 * t + 8]};
        for (int j = 0; j < 8; j++)
            mma(sum[j], a, widen(w_q[p / 2 + t][8 * j + g]), widen(w_q[p / 2 + t + 4][8 * j + g]));
        mma(plain, a, 0x3f803f80u, 0x3f803f80u);
    }
}

/* total += scale (sum - zero plain), element by element; then sum and plain start anew. Element c
 * of fragment j is column 8j + 2t + c % 2 of row g + 8 (c / 2); all columns of plain are equal. */
__device__ void close_group(const problem &g, float (&total)[8][4], float (&sum)[8][4],
                            float (&plain)[4], int64_t col0, int64_t group)
{
    for (int j = 0; j < 8; j++)
        for (int c = 0; c < 4; c++) {
            const int64_t col = col0 + 8 * j + threadIdx.x % 4 * 2 + c % 2, at = group * g.n + col;
            if (col < g.n)
                total[j][c] += __bfloat162float(g.scales[at]) *
                               (sum[j][c] - __bfloat162float(g.zeros[at]) * plain[c]);
            sum[j][c] = 0;
        }
    for (int c = 0; c < 4; c++)
        plain[c] = 0;
}

__global__ void __launch_bounds__(THREADS) gemm(problem g)
{
    __shared__ __align__(16) __nv_bfloat16 x[TILE][X_PITCH];
    __shared__ uint8_t w_q[STEP / 2][TILE];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int first = threadIdx.x / 32 * 16;
    float total[8][4] = {}, sum[8][4] = {}, plain[4] = {};

    for (int64_t k0 = 0; k0 < g.k; k0 += STEP) {
        load(g, x, w_q, row0, col0, k0);
        __syncthreads();
        multiply(sum, plain, x + first, w_q);
        __syncthreads();
        if ((k0 + STEP) % g.group == 0 || k0 + STEP >= g.k)
            close_group(g, total, sum, plain, col0, k0 / g.group);
    }
    for (int j = 0; j < 8; j++)
        for (int c = 0; c < 4; c++) {
            const int64_t row = row0 + first + threadIdx.x % 32 / 4 + c / 2 * 8;
            const int64_t col = col0 + 8 * j + threadIdx.x % 4 * 2 + c % 2;
            if (row < g.m && col < g.n)
                g.y[row * g.n + col] = __float2bfloat16(total[j][c]);
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
