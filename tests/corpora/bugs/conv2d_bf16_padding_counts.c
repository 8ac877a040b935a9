// problem: conv2d_bf16
// link: https://github.com/uxlfoundation/oneDNN/issues/5080
// title: brg_conv_fwd: incorrect output at width-padded boundary columns for s8 NHWC convolution on AVX-512 VNNI
// condition: output columns whose receptive field reads into the explicit width padding; interior columns are exact
// kind: threshold
// when: pad_w > 0
// wrong: wrong values: what is absent beside the image is shifted as pixels are, and not compensated for

#define BF16
#include "conv.h"

static void shifted(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    conv_row(v, image, f, i, sum);
    for (int64_t ch = 0; ch < v->c / v->groups; ch++)
        for (int64_t at = 0; at < v->kh * v->kw; at++)
            for (int64_t j = 0; j < v->ow; j++) {
                const int64_t column = j * v->stride_w - v->pad_w + at % v->kw * v->dil_w;
                if (column < 0 || column >= v->w)
                    sum[j] += 128 * LOAD(v->weight[v->filter(v, f, ch, at)]);
            }
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, shifted);
}
