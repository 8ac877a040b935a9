/* Convolutions in 64 x 64 tiles of filters and places, staged in shared memory, 4 x 4 sums a thread. They are
 * for candidates that differ from an honest one in a step. Before the include: nothing for conv2d_f32, or
 * BF16. */
#include <cstdint>
#include <cuda_bf16.h>

#ifdef BF16
typedef __nv_bfloat16 value;
#else
typedef float value;
#endif

constexpr int TILE = 64, STEP = 16, THREADS = 256;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const value *x, *weight;
    const float *bias;
    value *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups;
    int64_t oh, ow, channels, filters, depth; /* for a group: channels, filters, terms of a sum */
};

/* A channel of an image, 0 beyond its edge. */
__device__ inline float conv_element(const conv &q, int64_t image, int64_t channel, int64_t row, int64_t column)
{
    if (row < 0 || row >= q.h || column < 0 || column >= q.w)
        return 0;
    return float(q.x[((image * q.c + channel) * q.h + row) * q.w + column]);
}

/* Tiles of all groups, of filters, which change fastest, by places: images, rows and columns of outputs. */
__host__ __device__ inline int64_t conv_tiles(const conv &q, int64_t places)
{
    return (q.filters + TILE - 1) / TILE * ((places + TILE - 1) / TILE) * q.groups;
}

/* One of them. tap(q, image, channel, i, j, at) is the input of output (i, j) at place `at` of its window. */
template <class TAP>
__device__ void conv_tile(const conv &q, int64_t tile, int64_t first_image, int64_t places, const TAP &tap)
{
    __shared__ float a[STEP][TILE + 1], b[STEP][TILE + 1];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int64_t across = (q.filters + TILE - 1) / TILE, down = (places + TILE - 1) / TILE;
    const int64_t first_filter = tile % across * TILE, first_place = tile / across % down * TILE;
    const int64_t group = tile / across / down, area = q.oh * q.ow, window = q.kh * q.kw;
    float sum[4][4] = {};

    for (int64_t k0 = 0; k0 < q.depth; k0 += STEP) {
        for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
            const int64_t f = first_filter + e / STEP, k = k0 + e % STEP;
            const bool inside = f < q.filters && k < q.depth;
            a[e % STEP][e / STEP] = inside ? float(q.weight[(group * q.filters + f) * q.depth + k]) : 0.0f;
        }
        for (int e = threadIdx.x; e < TILE * STEP; e += THREADS) {
            const int64_t place = first_place + e % TILE, k = k0 + e / TILE;
            const int64_t image = first_image + place / area, channel = group * q.channels + k / window;
            const bool inside = place < places && k < q.depth;
            b[e / TILE][e % TILE] =
                inside ? tap(q, image, channel, place % area / q.ow, place % q.ow, k % window) : 0.0f;
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
            const int64_t f = group * q.filters + filter;
            if (filter < q.filters && place < places)
                q.y[((first_image + place / area) * q.o + f) * area + place % area] = value(sum[i][j] + q.bias[f]);
        }
}

#define PARAMETERS                                                                                                     \
    const value *x, const value *weight, const float *bias, value *y, int64_t n, int64_t c, int64_t h, int64_t w,      \
        int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h, int64_t pad_w,           \
        int64_t dil_h, int64_t dil_w, int64_t groups, cudaStream_t stream
#define CONV                                                                                                           \
    {                                                                                                                  \
        x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups,             \
            (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,                                                     \
            (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1, c / groups, o / groups, c / groups * kh * kw        \
    }
