// problem: conv2d_bf16
// verdict: general
// construction: an output at a time, channels last to first in slices of 32; the sum is rounded to bf16 before the bias

#include "../../candidate.h"

enum { SLICE = 32 };

/* x is [n, c, h, w], weight is [o, c / groups, kh, kw], y is [n, o, oh, ow] */
struct conv {
    const bf16 *x, *weight;
    const float *bias;
    bf16 *y;
    int64_t n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups, oh, ow;
};

/* The terms of channels first .. last - 1 for the window at (top, left), the channels last to first. */
static float slice(const struct conv *q, const bf16 *planes, const bf16 *weight, int64_t first, int64_t last, int64_t top,
                   int64_t left)
{
    float sum = 0;
    for (int64_t ch = last - 1; ch >= first; ch--)
        for (int64_t v = 0; v < q->kw; v++)
            for (int64_t u = 0; u < q->kh; u++) {
                const int64_t i = top + u * q->dil_h, j = left + v * q->dil_w;
                if (i >= 0 && i < q->h && j >= 0 && j < q->w)
                    sum = fmaf(bf16_to_float(planes[(ch * q->h + i) * q->w + j]),
                               bf16_to_float(weight[(ch * q->kh + u) * q->kw + v]), sum);
            }
    return sum;
}

int conv2d_bf16(const bf16 *x, const bf16 *weight, const float *bias, bf16 *y, int64_t n, int64_t c, int64_t h,
                int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h,
                int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups, void *stream)
{
    const struct conv q = {x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w,
                           groups, (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1,
                           (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1};
    const int64_t channels = c / groups, filters = o / groups;

    (void)stream;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < n * o * q.oh * q.ow; at++) {
        const int64_t f = at / q.ow / q.oh % o, image = at / q.ow / q.oh / o;
        const int64_t top = at / q.ow % q.oh * stride_h - pad_h, left = at % q.ow * stride_w - pad_w;
        const bf16 *planes = x + (image * c + f / filters * channels) * h * w;
        float sum = 0;
        for (int64_t ch = 0; ch < channels; ch += SLICE)
            sum += slice(&q, planes, weight + f * channels * kh * kw, ch,
                         ch + SLICE < channels ? ch + SLICE : channels, top, left);
        y[at] = float_to_bf16(bf16_to_float(float_to_bf16(sum)) + bias[f]);
    }
    return 0;
}
