// problem: gemm_f32
// verdict: general
// construction: mma.sync m16n8k8 tf32, three terms (big big + big small + small big); fp32 FMA for
// short k and steps with NaN, infinity or values that do not split
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 128;
constexpr int PITCH =
    STEP + 4; /* 20 words: the 8 x 4 words of a fragment fall on different banks */

/* Dropped small * small, and the rounding of the small parts, come to 2^-21 of a product: from 32
 * terms on that is inside the error of an fp32 sum. */
constexpr int SHORT = 32;

struct problem {
    const float *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    float *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* Not to be split: NaN, infinity, and what would leave the normal range on the way. */
__device__ bool awkward(float x)
{
    return x != 0 && !(fabsf(x) > 0x1p-100f && fabsf(x) < 0x1p100f);
}

/* Row i of the tile is a[row0 + i][k0 .. k0 + 15], zero outside; true if this thread met trouble.
 */
__device__ bool load_a(float (*tile)[PITCH], const problem &q, int64_t row0, int64_t k0)
{
    bool trouble = false;

    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int i = e / STEP, p = e % STEP;
        const bool inside = row0 + i < q.m && k0 + p < q.k;
        const float x = inside ? q.a[(row0 + i) * q.k + k0 + p] : 0.0f;
        tile[i][p] = x;
        trouble |= awkward(x);
    }
    return trouble;
}

/* Row j of the tile is b[k0 .. k0 + 15][col0 + j]; else as load_a. */
__device__ bool load_b(float (*tile)[PITCH], const problem &q, int64_t col0, int64_t k0)
{
    bool trouble = false;

    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int j = q.trans_b ? e / STEP : e % TILE, p = q.trans_b ? e % STEP : e / TILE;
        const int64_t row = k0 + p, col = col0 + j;
        const int64_t at = q.trans_b ? col * q.k + row : row * q.n + col;
        const float x = row < q.k && col < q.n ? q.b[at] : 0.0f;
        tile[j][p] = x;
        trouble |= awkward(x);
    }
    return trouble;
}

/* To the nearest tf32, 11 bits: x = big + small but for the last bit of small. */
__device__ uint32_t round_tf32(float x)
{
    return (__float_as_uint(x) + 0x1000) & ~0x1fffu;
}

__device__ void split(float x, uint32_t &big, uint32_t &small)
{
    big = round_tf32(x);
    small = round_tf32(x - __uint_as_float(big));
}

/* d += a b: a is 16 x 8, b 8 x 8, d 16 x 8. */
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Each warp: 16 rows against 64 columns. Lane 4g + t holds k = t and t + 4 of row g, and of row
 * g + 8 for a. The small terms have sums of their own, so that the large ones are cut less often.
 */
__device__ void multiply(float (&sum)[8][4], float (&rest)[8][4], float (*a)[PITCH],
                         float (*b)[PITCH])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + g;

    for (int p = t; p < STEP; p += 8) {
        uint32_t u0[4], u1[4], v0[2], v1[2];
        for (int e = 0; e < 4; e++) /* rows g, g + 8 at k = t, then both at t + 4 */
            split(a[row + e % 2 * 8][p + e / 2 * 4], u0[e], u1[e]);
        for (int j = 0; j < 8; j++) {
            for (int e = 0; e < 2; e++)
                split(b[8 * j + g][p + 4 * e], v0[e], v1[e]);
            mma(rest[j], u1, v0);
            mma(rest[j], u0, v1);
            mma(sum[j], u0, v0);
        }
    }
}

/* The same sums by fp32 FMA: elements 0, 1 are columns 2t, 2t + 1 of row g, 2, 3 of row g + 8. */
__device__ void multiply_plain(float (&sum)[8][4], float (*a)[PITCH], float (*b)[PITCH])
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = threadIdx.x / 32 * 16 + g;

    for (int p = 0; p < STEP; p++)
        for (int j = 0; j < 8; j++)
            for (int e = 0; e < 4; e++)
                sum[j][e] += a[row + e / 2 * 8][p] * b[8 * j + 2 * t + e % 2][p];
}

__global__ void __launch_bounds__(THREADS) gemm(problem q)
{
    __shared__ float a[TILE][PITCH], b[TILE][PITCH];
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    float sum[8][4] = {}, rest[8][4] = {};

    for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
        const bool in_a = load_a(a, q, row0, k0), in_b = load_b(b, q, col0, k0);
        if (__syncthreads_or(in_a || in_b || q.k < SHORT))
            multiply_plain(sum, a, b);
        else
            multiply(sum, rest, a, b);
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++) {
            const int64_t row = row0 + threadIdx.x / 32 * 16 + g + e / 2 * 8;
            const int64_t col = col0 + 8 * j + 2 * t + e % 2;
            if (row < q.m && col < q.n)
                q.c[row * q.n + col] = sum[j][e] + rest[j][e];
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
