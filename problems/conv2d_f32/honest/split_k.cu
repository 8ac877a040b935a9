// problem: conv2d_f32
// verdict: general
// construction: y starts as the bias; blocks of 32 channels add their parts of the sums to it, in any order
#include <stdint.h>

namespace {

constexpr int THREADS = 256, SLICE = 32;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const float *x, *weight, *bias;
    float *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
};

__global__ void __launch_bounds__(THREADS) start(conv q)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, area = q.oh * q.ow, count = q.n * q.o * area;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step)
        q.y[at] = q.bias[at / area % q.o];
}

/* The terms of a slice of channels for output `at`: taps outside, channels inside. */
__device__ float part(const conv &q, int64_t at, int64_t first)
{
    const int64_t j = at % q.ow, i = at / q.ow % q.oh, f = at / q.ow / q.oh % q.o, image = at / q.ow / q.oh / q.o;
    const int64_t channels = q.c / q.groups, group = f / (q.o / q.groups), area = q.h * q.w;
    const int64_t last = first + SLICE < channels ? first + SLICE : channels;
    float sum = 0;

    for (int64_t u = 0; u < q.kh; u++)
        for (int64_t v = 0; v < q.kw; v++) {
            const int64_t row = i * q.stride_h - q.pad_h + u * q.dil_h;
            const int64_t column = j * q.stride_w - q.pad_w + v * q.dil_w;
            if (row < 0 || row >= q.h || column < 0 || column >= q.w)
                continue;
            const float *pixel = q.x + (image * q.c + group * channels) * area + row * q.w + column;
            const float *weight = q.weight + f * channels * q.kh * q.kw + u * q.kw + v;
            for (int64_t ch = first; ch < last; ch++)
                sum = fmaf(pixel[ch * area], weight[ch * q.kh * q.kw], sum);
        }
    return sum;
}

__global__ void __launch_bounds__(THREADS) add(conv q)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, count = q.n * q.o * q.oh * q.ow;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step)
        atomicAdd(q.y + at, part(q, at, (int64_t)blockIdx.y * SLICE));
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
    const unsigned grid = (unsigned)(blocks < 1 << 16 ? blocks : 1 << 16);

    start<<<grid, THREADS, 0, stream>>>(q);
    add<<<dim3(grid, (unsigned)((c / groups + SLICE - 1) / SLICE)), THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
