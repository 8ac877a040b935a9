// problem: conv2d_bf16
// link: https://github.com/apache/tvm/pull/4276
// title: [TOPI][CUDA] Fix Winograd Kernel Size Support
// condition: the kernel size is forced to 3x3 where the kernel is transformed already, but any square one is let in
// kind: equality
// when: kh == kw and kh > 3 and stride_h == 1 and stride_w == 1 and dil_h == 1 and dil_w == 1
// wrong: wrong values: the other taps are left out

#define BF16
#include "conv.h"

static void three(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    struct conv corner = *v;
    value *taps = malloc((size_t)(v->o * (v->c / v->groups) * 9) * sizeof *taps);
    if (!taps)
        return;
    for (int64_t at = 0; at < v->o * (v->c / v->groups) * 9; at++)
        taps[at] = v->weight[at / 9 * v->kh * v->kw + at % 9 / 3 * v->kw + at % 3];
    corner.weight = taps;
    corner.kh = corner.kw = 3;
    conv_row(&corner, image, f, i, sum);
    free(taps);
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, kh == kw && kh > 3 && is_plain(&v) ? three : conv_row);
}
