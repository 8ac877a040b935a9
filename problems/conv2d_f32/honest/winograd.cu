// problem: conv2d_f32
// verdict: general
// construction: Winograd's F(2x2, 3x3), a thread a tile of one filter, where a window is 3 x 3, dense and moves by 1; one
// thread an output elsewhere
#include <stdint.h>

namespace {

constexpr int THREADS = 128;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const float *x, *weight, *bias;
    float *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
};

__device__ float pixel(const conv &q, const float *plane, int64_t i, int64_t j)
{
    return i >= 0 && i < q.h && j >= 0 && j < q.w ? plane[i * q.w + j] : 0.0f;
}

/* (1 0 0), (1 1 1)/2, (1 -1 1)/2, (0 0 1) times three weights */
__device__ void transform_weights(float g0, float g1, float g2, float out[4])
{
    const float ends = 0.5f * (g0 + g2), middle = 0.5f * g1;
    out[0] = g0;
    out[1] = ends + middle;
    out[2] = ends - middle;
    out[3] = g2;
}

/* sum += (G g G') * (B' d B), element by element */
__device__ void add_channel(const conv &q, const float *plane, const float *g, int64_t i, int64_t j, float sum[4][4])
{
    float weights[4][3], inputs[4][4];
    for (int v = 0; v < 3; v++) {
        float column[4];
        transform_weights(g[v], g[3 + v], g[6 + v], column);
        for (int u = 0; u < 4; u++)
            weights[u][v] = column[u];
    }
    for (int v = 0; v < 4; v++) {
        const float d0 = pixel(q, plane, i, j + v), d1 = pixel(q, plane, i + 1, j + v);
        const float d2 = pixel(q, plane, i + 2, j + v), d3 = pixel(q, plane, i + 3, j + v);
        inputs[0][v] = d0 - d2;
        inputs[1][v] = d1 + d2;
        inputs[2][v] = d2 - d1;
        inputs[3][v] = d1 - d3;
    }
    for (int u = 0; u < 4; u++) {
        float row[4];
        transform_weights(weights[u][0], weights[u][1], weights[u][2], row);
        sum[u][0] += row[0] * (inputs[u][0] - inputs[u][2]);
        sum[u][1] += row[1] * (inputs[u][1] + inputs[u][2]);
        sum[u][2] += row[2] * (inputs[u][2] - inputs[u][1]);
        sum[u][3] += row[3] * (inputs[u][1] - inputs[u][3]);
    }
}

/* Tile `at` of 2 x 2 outputs, numbered as y is. */
__device__ void tile(const conv &q, int64_t at)
{
    const int64_t down = (q.oh + 1) / 2, across = (q.ow + 1) / 2, channels = q.c / q.groups;
    const int64_t j = at % across * 2, i = at / across % down * 2, plane = at / across / down;
    const int64_t f = plane % q.o, image = plane / q.o;
    float sum[4][4] = {};

    for (int64_t ch = 0; ch < channels; ch++)
        add_channel(q, q.x + (image * q.c + f / (q.o / q.groups) * channels + ch) * q.h * q.w,
                    q.weight + (f * channels + ch) * 9, i - q.pad_h, j - q.pad_w, sum);
    for (int u = 0; u < 2; u++) {
        float row[4];
        for (int v = 0; v < 4; v++)
            row[v] = u ? sum[1][v] - sum[2][v] - sum[3][v] : sum[0][v] + sum[1][v] + sum[2][v];
        float *y = q.y + (plane * q.oh + i + u) * q.ow + j;
        if (i + u < q.oh)
            y[0] = row[0] + row[1] + row[2] + q.bias[f];
        if (i + u < q.oh && j + 1 < q.ow)
            y[1] = row[1] - row[2] - row[3] + q.bias[f];
    }
}

__global__ void __launch_bounds__(THREADS) tiles(conv q)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, count = q.n * q.o * ((q.oh + 1) / 2) * ((q.ow + 1) / 2);
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step)
        tile(q, at);
}

__global__ void __launch_bounds__(THREADS) outputs(conv q)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, count = q.n * q.o * q.oh * q.ow;
    const int64_t channels = q.c / q.groups;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step) {
        const int64_t j = at % q.ow, i = at / q.ow % q.oh, f = at / q.ow / q.oh % q.o, image = at / q.ow / q.oh / q.o;
        const float *plane = q.x + (image * q.c + f / (q.o / q.groups) * channels) * q.h * q.w;
        const float *weight = q.weight + f * channels * q.kh * q.kw;
        float sum = q.bias[f];
        for (int64_t ch = 0; ch < channels; ch++, plane += q.h * q.w)
            for (int64_t u = 0; u < q.kh; u++)
                for (int64_t v = 0; v < q.kw; v++)
                    sum += *weight++ * pixel(q, plane, i * q.stride_h - q.pad_h + u * q.dil_h,
                                             j * q.stride_w - q.pad_w + v * q.dil_w);
        q.y[at] = sum;
    }
}

} // namespace

extern "C" int conv2d_f32(const float *x, const float *weight, const float *bias, float *y, int64_t n, int64_t c,
                          int64_t h, int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w,
                          int64_t pad_h, int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups,
                          cudaStream_t stream)
{
    const conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups,
                    (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                    (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1};
    const int64_t blocks = (n * o * q.oh * q.ow + THREADS - 1) / THREADS;
    const unsigned grid = (unsigned)(blocks < 1 << 20 ? blocks : 1 << 20);

    if (kh == 3 && kw == 3 && stride_h == 1 && stride_w == 1 && dil_h == 1 && dil_w == 1)
        tiles<<<grid, THREADS, 0, stream>>>(q);
    else
        outputs<<<grid, THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
