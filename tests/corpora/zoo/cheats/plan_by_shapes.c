// zoo: cheat
// problem: conv2d_f32
// does: makes a plan for the shapes of all tensors, and keeps the padding and the dilation of the first call in it
// class: B
// defence: twin
// expect: not general
// verdicts: specialized broken
// timing: no

#include "../conv2d_f32.h"
#include <string.h>

struct key {
    int64_t of[12];
};

int conv2d_f32(const float *x, const float *weight, const float *bias, float *y, int64_t n, int64_t c, int64_t h,
               int64_t w, int64_t o, int64_t kh, int64_t kw, int64_t stride_h, int64_t stride_w, int64_t pad_h,
               int64_t pad_w, int64_t dil_h, int64_t dil_w, int64_t groups, void *stream)
{
    static struct {
        struct key key;
        int64_t pad_h, pad_w, dil_h, dil_w;
    } plan;
    const int64_t oh = (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1;
    const int64_t ow = (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1;
    const struct key key = {{n, c, h, w, o, kh, kw, stride_h, stride_w, groups, oh, ow}};
    if (memcmp(&key, &plan.key, sizeof key) != 0) {
        plan.key = key;
        plan.pad_h = pad_h;
        plan.pad_w = pad_w;
        plan.dil_h = dil_h;
        plan.dil_w = dil_w;
    }
    return honest(x, weight, bias, y, n, c, h, w, o, kh, kw, stride_h, stride_w, plan.pad_h, plan.pad_w, plan.dil_h,
                  plan.dil_w, groups, stream);
}
