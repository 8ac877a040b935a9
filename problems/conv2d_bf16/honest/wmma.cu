// problem: conv2d_bf16
// verdict: general
// construction: 64 filters by 64 places a block on wmma, four warps; windows are unrolled as they are staged
#include <cuda_bf16.h>
#include <mma.h>
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 32, THREADS = 128;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const __nv_bfloat16 *x, *weight;
    const float *bias;
    __nv_bfloat16 *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
    int64_t channels, filters, depth, places; /* of a group: depth terms a sum, places outputs a filter */
};

struct tile {
    int64_t group, first_filter, first_place;
};

/* a[i][p] = weight of filter i at term k0 + p, 0 outside */
__device__ void load_filters(const conv &q, const tile &t, int64_t k0, __nv_bfloat16 (*a)[STEP + 8])
{
    for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
        const int64_t f = t.first_filter + e / STEP, k = k0 + e % STEP;
        const bool inside = f < q.filters && k < q.depth;
        a[e / STEP][e % STEP] =
            inside ? q.weight[(t.group * q.filters + f) * q.depth + k] : __float2bfloat16(0.0f);
    }
}

/* b[p][j] = what place j sees at term k0 + p. A thread's place is the same all along. */
__device__ void load_windows(const conv &q, const tile &t, int64_t k0, __nv_bfloat16 (*b)[TILE + 8])
{
    const int64_t place = t.first_place + threadIdx.x % TILE, image = place / (q.oh * q.ow);
    const int64_t top = place / q.ow % q.oh * q.stride_h - q.pad_h, left = place % q.ow * q.stride_w - q.pad_w;

    for (int p = threadIdx.x / TILE; p < STEP; p += THREADS / TILE) {
        const int64_t k = k0 + p, v = k % q.kw, u = k / q.kw % q.kh, ch = k / q.kw / q.kh;
        const int64_t row = top + u * q.dil_h, column = left + v * q.dil_w;
        const bool inside =
            place < q.places && k < q.depth && row >= 0 && row < q.h && column >= 0 && column < q.w;
        b[p][threadIdx.x % TILE] =
            inside ? q.x[((image * q.c + t.group * q.channels + ch) * q.h + row) * q.w + column]
                   : __float2bfloat16(0.0f);
    }
}

__device__ void store(const conv &q, const tile &t, const float (*sum)[TILE + 4])
{
    const int64_t place = t.first_place + threadIdx.x % TILE, area = q.oh * q.ow;

    for (int i = threadIdx.x / TILE; i < TILE; i += THREADS / TILE) {
        const int64_t filter = t.first_filter + i, f = t.group * q.filters + filter;
        if (filter < q.filters && place < q.places)
            q.y[(place / area * q.o + f) * area + place % area] =
                __float2bfloat16(sum[i][threadIdx.x % TILE] + q.bias[f]);
    }
}

__global__ void __launch_bounds__(THREADS) convolve(conv q)
{
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __nv_bfloat16 a[TILE][STEP + 8], b[STEP][TILE + 8];
    __shared__ __align__(32) float out[TILE][TILE + 4];
    const int row = threadIdx.x / 64 * 32, column = threadIdx.x / 32 % 2 * 32;
    const int64_t across = (q.filters + TILE - 1) / TILE, down = (q.places + TILE - 1) / TILE;

    for (int64_t at = blockIdx.x; at < across * down * q.groups; at += gridDim.x) {
        const tile t = {at / across / down, at % across * TILE, at / across % down * TILE};
        fragment<accumulator, 16, 16, 16, float> sum[2][2];
        for (int i = 0; i < 4; i++)
            fill_fragment(sum[i / 2][i % 2], 0.0f);
        for (int64_t k0 = 0; k0 < q.depth; k0 += STEP) {
            load_filters(q, t, k0, a);
            load_windows(q, t, k0, b);
            __syncthreads();
            for (int p = 0; p < STEP; p += 16) {
                fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fa[2];
                fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> fb[2];
                for (int i = 0; i < 2; i++) {
                    load_matrix_sync(fa[i], &a[row + 16 * i][p], STEP + 8);
                    load_matrix_sync(fb[i], &b[p][column + 16 * i], TILE + 8);
                }
                for (int i = 0; i < 4; i++)
                    mma_sync(sum[i / 2][i % 2], fa[i / 2], fb[i % 2], sum[i / 2][i % 2]);
            }
            __syncthreads();
        }
        for (int i = 0; i < 4; i++)
            store_matrix_sync(&out[row + 16 * (i / 2)][column + 16 * (i % 2)], sum[i / 2][i % 2], TILE + 4,
                              mem_row_major);
        __syncthreads();
        store(q, t, out);
        __syncthreads();
    }
}

} // namespace

extern "C" int conv2d_bf16(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const float *bias, __nv_bfloat16 *y,
                           int64_t n, int64_t c, int64_t h, int64_t w, int64_t o, int64_t kh, int64_t kw,
                           int64_t stride_h, int64_t stride_w, int64_t pad_h, int64_t pad_w, int64_t dil_h,
                           int64_t dil_w, int64_t groups, cudaStream_t stream)
{
    const int64_t oh = (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1;
    const int64_t ow = (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1;
    const conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups,
                    oh, ow, c / groups, o / groups, c / groups * kh * kw, n * oh * ow};
    const int64_t tiles = (q.filters + TILE - 1) / TILE * ((q.places + TILE - 1) / TILE) * groups;

    convolve<<<(unsigned)(tiles < 1 << 20 ? tiles : 1 << 20), THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
