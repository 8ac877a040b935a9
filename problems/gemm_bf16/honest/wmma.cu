// problem: gemm_bf16
// verdict: general
// construction: 16 x 16 x 16 wmma, b staged and read in the layout it has, fp32 sums
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128, OUT = TILE + 4;

struct problem {
    const __nv_bfloat16 *a, *b; /* [m, k]; [k, n], or [n, k] if trans_b */
    __nv_bfloat16 *c;           /* [m, n] */
    int64_t m, n, k, trans_b;
};

/* A rectangle of `rows` x `cols` elements of a [height, width] matrix, zero outside it. */
__device__ void load_tile(__nv_bfloat16 *tile, int rows, int cols, int pitch,
                          const __nv_bfloat16 *source, int64_t row0, int64_t col0, int64_t height,
                          int64_t width)
{
    for (int e = threadIdx.x; e < rows * cols; e += THREADS) {
        const int64_t row = row0 + e / cols, col = col0 + e % cols;
        const bool inside = row < height && col < width;
        tile[e / cols * pitch + e % cols] =
            inside ? source[row * width + col] : __nv_bfloat16(0.0f);
    }
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fragment_a;

/* LAYOUT of b's tile: row_major [STEP, TILE], or col_major [TILE, STEP]. */
template <typename LAYOUT>
using fragment_b = wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, LAYOUT>;

constexpr int A_PITCH = STEP + 8, B_PITCH = TILE + 8; /* B_PITCH where b is [k, n] */

template <bool TRANS> struct layout_of {
    typedef wmma::row_major type;
    static constexpr int pitch = B_PITCH, along_k = B_PITCH, along_n = 1;
};
template <> struct layout_of<true> {
    typedef wmma::col_major type;
    static constexpr int pitch = A_PITCH, along_k = 1, along_n = A_PITCH;
};

/* Warp w of four multiplies rows 16 w .. 16 w + 15 by all 64 columns. */
template <bool TRANS>
__device__ void multiply(accumulator (&sum)[4], const __nv_bfloat16 *a, const __nv_bfloat16 *b)
{
    typedef layout_of<TRANS> layout;
    fragment_a u;
    fragment_b<typename layout::type> v;

    for (int p = 0; p < STEP; p += 16) {
        wmma::load_matrix_sync(u, a + threadIdx.x / 32 * 16 * A_PITCH + p, A_PITCH);
        for (int j = 0; j < 4; j++) {
            wmma::load_matrix_sync(v, b + p * layout::along_k + 16 * j * layout::along_n,
                                   layout::pitch);
            wmma::mma_sync(sum[j], u, v, sum[j]);
        }
    }
}

template <bool TRANS> __global__ void __launch_bounds__(THREADS) gemm(problem q)
{
    __shared__ __align__(32) __nv_bfloat16 a[TILE * A_PITCH], b[TILE * A_PITCH];
    __shared__ __align__(32) float out[TILE][OUT];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, col0 = (int64_t)blockIdx.x * TILE;
    accumulator sum[4];

    static_assert(STEP * B_PITCH <= TILE * A_PITCH, "b's tile has room in either layout");
    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sum[j], 0.0f);
    for (int64_t k0 = 0; k0 < q.k; k0 += STEP) {
        load_tile(a, TILE, STEP, A_PITCH, q.a, row0, k0, q.m, q.k);
        if (TRANS)
            load_tile(b, TILE, STEP, A_PITCH, q.b, col0, k0, q.n, q.k);
        else
            load_tile(b, STEP, TILE, B_PITCH, q.b, k0, col0, q.k, q.n);
        __syncthreads();
        multiply<TRANS>(sum, a, b);
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(&out[threadIdx.x / 32 * 16][16 * j], sum[j], OUT,
                                wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < TILE * TILE; e += THREADS) {
        const int64_t row = row0 + e / TILE, col = col0 + e % TILE;
        if (row < q.m && col < q.n)
            q.c[row * q.n + col] = __float2bfloat16(out[e / TILE][e % TILE]);
    }
}

} // namespace

extern "C" int gemm_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c,
                         int64_t m, int64_t n, int64_t k, int64_t trans_b, cudaStream_t stream)
{
    const problem q = {a, b, c, m, n, k, trans_b};
    const dim3 grid((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));

    if (trans_b)
        gemm<true><<<grid, THREADS, 0, stream>>>(q);
    else
        gemm<false><<<grid, THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
