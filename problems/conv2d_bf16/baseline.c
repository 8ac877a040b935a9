// problem: conv2d_bf16
// verdict: general
// construction: direct; a row of outputs at a time, one tap after another added to all of it

#include "../candidate.h"
#include <stdlib.h>

/* Outputs first .. last - 1 of a row have tap `at`, the tap's place for output 0, inside of 0 .. size - 1. */
static void reach(int64_t at, int64_t stride, int64_t size, int64_t count, int64_t *first, int64_t *last)
{
    *first = at >= 0 ? 0 : (-at + stride - 1) / stride;
    *last = at >= size ? 0 : (size - 1 - at) / stride + 1;
    if (*last > count)
        *last = count;
}

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], bias is [o], y is [n, o, oh, ow] */
int conv2d_bf16(const bf16 *x, const bf16 *weight, const float *bias, bf16 *y, int64_t n, int64_t c, int64_t h,
               int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h,
               int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups, void *stream)
{
    const int64_t oh = (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1;
    const int64_t ow = (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1;
    const int64_t channels = c / groups, filters = o / groups;
    int failed = 0;

    (void)stream;
#pragma omp parallel reduction(| : failed)
    {
        float *sum = malloc((size_t)ow * sizeof *sum);
        failed = !sum;
#pragma omp for schedule(dynamic)
        for (int64_t task = 0; task < n * o * oh; task++) {
            const int64_t i = task % oh, f = task / oh % o, image = task / oh / o;
            if (!sum)
                continue;
            for (int64_t j = 0; j < ow; j++)
                sum[j] = 0;
            for (int64_t ch = 0; ch < channels; ch++)
                for (int64_t u = 0; u < kh; u++) {
                    const int64_t row = i * stride_h - pad_h + u * dil_h;
                    const bf16 *in = x + ((image * c + f / filters * channels + ch) * h + row) * w;
                    const bf16 *taps = weight + ((f * channels + ch) * kh + u) * kw;
                    if (row < 0 || row >= h)
                        continue;
                    for (int64_t v = 0; v < kw; v++) {
                        const int64_t at = v * dil_w - pad_w;
                        const float tap = bf16_to_float(taps[v]);
                        int64_t first, last;
                        reach(at, stride_w, w, ow, &first, &last);
                        for (int64_t j = first; j < last; j++)
                            sum[j] += bf16_to_float(in[at + j * stride_w]) * tap;
                    }
                }
            for (int64_t j = 0; j < ow; j++)
                y[task * ow + j] = float_to_bf16(sum[j] + bias[f]);
        }
        free(sum);
    }
    return failed;
}
