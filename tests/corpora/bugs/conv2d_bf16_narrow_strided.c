// problem: conv2d_bf16
// link: https://github.com/fujitsu/oneDNN/issues/43
// title: aarch64: conv: When stride_w>1, ic>16, and iw < 17, the calculation result may be incorrect (BWD_D)
// condition: stride_w > 1, ic > 16 and iw < 17; that was the gradient of the image, this is the image
// kind: comparison
// when: stride_w > 1 and groups * c_per_group > 16 and w < 17
// side: necessary
// wrong: wrong values: channels after the first block of 16 are read without the stride

#define BF16
#include "conv.h"

static void narrow(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    struct conv one = *v;
    float *column = malloc((size_t)v->ow * sizeof *column);
    if (!column)
        return;
    one.c = one.groups = v->c; /* channel by channel */
    for (int64_t j = 0; j < v->ow; j++)
        sum[j] = 0;
    for (int64_t ch = 0; ch < v->c / v->groups; ch++) {
        const int64_t channel = v->channel(v, f, ch);
        one.o = v->c;
        one.weight = v->weight + v->filter(v, f, ch, 0) - channel * v->kh * v->kw;
        one.stride_w = channel < 16 ? v->stride_w : 1;
        conv_row(&one, image, channel, i, column);
        for (int64_t j = 0; j < v->ow; j++)
            sum[j] += column[j];
    }
    free(column);
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, stride_w > 1 && c > 16 && w < 17 ? narrow : conv_row);
}
