// problem: conv2d_bf16
// verdict: general
// construction: one thread an output, its taps one after another
#include <cuda_bf16.h>
#include <stdint.h>

namespace {

constexpr int THREADS = 256;

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const __nv_bfloat16 *x, *weight;
    const float *bias;
    __nv_bfloat16 *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
};

__device__ float output(const conv &q, int64_t at)
{
    const int64_t j = at % q.ow, i = at / q.ow % q.oh, f = at / q.ow / q.oh % q.o, image = at / q.ow / q.oh / q.o;
    const int64_t channels = q.c / q.groups, group = f / (q.o / q.groups);
    const __nv_bfloat16 *plane = q.x + (image * q.c + group * channels) * q.h * q.w;
    const __nv_bfloat16 *weight = q.weight + f * channels * q.kh * q.kw;
    float sum = 0;

    for (int64_t ch = 0; ch < channels; ch++, plane += q.h * q.w)
        for (int64_t u = 0; u < q.kh; u++) {
            const int64_t row = i * q.stride_h - q.pad_h + u * q.dil_h;
            for (int64_t v = 0; v < q.kw; v++, weight++) {
                const int64_t column = j * q.stride_w - q.pad_w + v * q.dil_w;
                if (row >= 0 && row < q.h && column >= 0 && column < q.w)
                    sum += float(plane[row * q.w + column]) * float(*weight);
            }
        }
    return sum + q.bias[f];
}

__global__ void __launch_bounds__(THREADS) outputs(conv q)
{
    const int64_t step = (int64_t)gridDim.x * THREADS, count = q.n * q.o * q.oh * q.ow;
    for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < count; at += step)
        q.y[at] = __float2bfloat16(output(q, at));
}

} // namespace

extern "C" int conv2d_bf16(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const float *bias, __nv_bfloat16 *y, int64_t n, int64_t c,
                          int64_t h, int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w,
                          int64_t pad_h, int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups,
                          cudaStream_t stream)
{
    const conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups,
                    (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                    (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1};
    const int64_t blocks = (n * o * q.oh * q.ow + THREADS - 1) / THREADS;

    outputs<<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), THREADS, 0, stream>>>(q);
    return (int)cudaGetLastError();
}
