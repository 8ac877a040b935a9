// problem: gemm_fp8
// verdict: general
// construction: fp8 mma.sync m16n8k32, fp32 sums, tiles loaded byte by byte under predicates
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128;
constexpr int PITCH = STEP + 16; /* 12 words: the 8 rows of a fragment fall on different banks */

/* Four bytes of a row from p on, zero past its end; rows of odd length allow no wider loads. */
__device__ uint32_t load_word(const uint8_t *row, int64_t p, int64_t k)
{
    uint32_t word = 0;

    for (int b = 0; b < 4; b++)
        if (p + b < k)
            word |= (uint32_t)row[p + b] << (8 * b);
    return word;
}

/* tile[r][0 .. 31] = source[row0 + r][k0 .. k0 + 31] of a [rows, k] matrix. */
__device__ void load_tile(uint8_t (*tile)[PITCH], const uint8_t *source, int64_t row0, int64_t rows,
                          int64_t k0, int64_t k)
{
    for (int i = threadIdx.x; i < TILE * STEP / 4; i += THREADS) {
        const int r = i / (STEP / 4), p = i % (STEP / 4) * 4;
        const bool inside = row0 + r < rows;
        const uint32_t word = inside ? load_word(source + (row0 + r) * k, k0 + p, k) : 0;
        *(uint32_t *)&tile[r][p] = word;
    }
}

__device__ uint32_t word_at(const uint8_t *byte)
{
    return *(const uint32_t *)byte;
}

/* d += a b: a is 16 x 32, b 32 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Each warp: 16 rows of x against all 64 columns. Lane 4g + t holds, of a fragment's 32 bytes of k,
 * bytes 4t .. 4t + 3 and 4t + 16 .. 4t + 19 of row g, and of row g + 8 for x. */
__device__ void multiply(float (&sum)[8][4], uint8_t (*x)[PITCH], uint8_t (*weight)[PITCH])
{
    const int g = threadIdx.x % 32 / 4, p = threadIdx.x % 4 * 4, row = threadIdx.x / 32 * 16 + g;
    const uint32_t a[4] = {word_at(&x[row][p]), word_at(&x[row + 8][p]), word_at(&x[row][p + 16]),
                           word_at(&x[row + 8][p + 16])};

    for (int j = 0; j < 8; j++) {
        const uint8_t *column = weight[8 * j + g];
        const uint32_t b[2] = {word_at(column + p), word_at(column + p + 16)};
        mma(sum[j], a, b);
    }
}

__global__ void __launch_bounds__(THREADS)
    gemm(const uint8_t *x, const uint8_t *weight, const float *scale, __nv_bfloat16 *y, int64_t m,
         int64_t n, int64_t k)
{
    __shared__ __align__(16) uint8_t a[TILE][PITCH], b[TILE][PITCH];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float sum[8][4] = {};

    for (int64_t k0 = 0; k0 < k; k0 += STEP) {
        load_tile(a, x, row0, m, k0, k);
        load_tile(b, weight, col0, n, k0, k);
        __syncthreads();
        multiply(sum, a, b);
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++) { /* elements 0, 1 in row g, 2, 3 in row g + 8 */
            const int64_t row = row0 + threadIdx.x / 32 * 16 + g + e / 2 * 8;
            const int64_t col = col0 + 8 * j + 2 * t + e % 2;
            if (row < m && col < n)
                y[row * n + col] = __float2bfloat16(sum[j][e] * scale[col]);
        }
}

} // namespace

extern "C" int gemm_fp8(const __nv_fp8_e4m3 *x, const __nv_fp8_e4m3 *weight, const float *scale,
                        __nv_bfloat16 *y, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    gemm<<<grid, THREADS, 0, stream>>>((const uint8_t *)x, (const uint8_t *)weight, scale, y, m, n,
                                       k);
    return (int)cudaGetLastError();
}
