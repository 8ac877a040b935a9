// problem: conv2d_f32
// verdict: general
// construction: a product [filters, k] by [k, places] in 64 x 64 tiles staged in shared memory, 4 x 4 sums a thread; the
// windows are unrolled as they are staged
#include <stdint.h>

namespace {

constexpr int TILE = 64, STEP = 16, THREADS = 256;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const float *x, *weight, *bias;
    float *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
    int64_t channels, filters, depth, places; /* of a group: depth terms a sum, places outputs a filter */
};

/* The input of `place` at term k of its window, 0 beyond the image's edge. */
__device__ float tap(const conv &q, int64_t group, int64_t place, int64_t k)
{
    const int64_t ch = k / (q.kh * q.kw), u = k / q.kw % q.kh, v = k % q.kw;
    const int64_t image = place / (q.oh * q.ow), i = place / q.ow % q.oh, j = place % q.ow;
    const int64_t row = i * q.stride_h - q.pad_h + u * q.dil_h, column = j * q.stride_w - q.pad_w + v * q.dil_w;

    if (row < 0 || row >= q.h || column < 0 || column >= q.w)
        return 0;
    return float(q.x[((image * q.c + group * q.channels + ch) * q.h + row) * q.w + column]);
}

/* Tiles of a group: filters change fastest. A block takes every gridDim.x-th tile of all groups. */
__global__ void __launch_bounds__(THREADS) convolve(conv q)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t across = (q.filters + TILE - 1) / TILE, down = (q.places + TILE - 1) / TILE;

    for (int64_t tile = blockIdx.x; tile < across * down * q.groups; tile += gridDim.x) {
        const int64_t first_filter = tile % across * TILE, first_place = tile / across % down * TILE;
        const int64_t group = tile / across / down;
        float sum[4][4] = {};

        for (int64_t k0 = 0; k0 < q.depth; k0 += STEP) {
            for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
                const int64_t f = first_filter + e / STEP, k = k0 + e % STEP;
                const bool inside = f < q.filters && k < q.depth;
                a[e % STEP][e / STEP] = inside ? float(q.weight[(group * q.filters + f) * q.depth + k]) : 0.0f;
            }
            for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
                const int64_t place = first_place + e % TILE, k = k0 + e / TILE;
                b[e / TILE][e % TILE] = place < q.places && k < q.depth ? tap(q, group, place, k) : 0.0f;
            }
            __syncthreads();
            for (int p = 0; p < STEP; p++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 4; j++)
                        sum[i][j] += a[p][ty + 16 * i] * b[p][tx + 16 * j];
            __syncthreads();
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                const int64_t filter = first_filter + ty + 16 * i, place = first_place + tx + 16 * j;
                const int64_t f = group * q.filters + filter, area = q.oh * q.ow;
                if (filter < q.filters && place < q.places)
                    q.y[(place / area * q.o + f) * area + place % area] = sum[i][j] + q.bias[f];
            }
    }
}

} // namespace

extern "C" int conv2d_f32(const float *x, const float *weight, const float *bias, float *y, int64_t n, int64_t c,
                          int64_t h, int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w,
                          int64_t pad_h, int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups,
                          cudaStream_t stream)
{
    const int64_t oh = (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1;
    const int64_t ow = (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1;
    const conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups,
                    oh, ow, c / groups, o / groups, c / groups * kh * kw, n * oh * ow};
    const int64_t tiles = (q.filters + TILE - 1) / TILE * ((q.places + TILE - 1) / TILE) * groups;

    convolve<<<(unsigned)(tiles < 1 << 20 ? tiles : 1 << 20), THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
