// problem: conv2d_bf16
// link: https://github.com/ARM-software/ComputeLibrary/issues/78
// title: Convolution Failed when kernel size is even
// condition: when the kernel size is even the right border column is wrong
// kind: alignment
// when: kw % 2 == 0
// side: necessary
// wrong: wrong values: the border is half a kernel wide on both sides, one column too few on the right

#define BF16
#include "conv.h"

static void short_border(const struct conv *v, int64_t image, int64_t f, int64_t i, float *sum)
{
    struct conv last = *v;
    float columns[1] = {0};
    conv_row(v, image, f, i, sum);
    last.pad_w = v->pad_w - (v->ow - 1) * v->stride_w + 1; /* the last window, one column to the left */
    last.ow = 1;
    conv_row(&last, image, f, i, columns);
    sum[v->ow - 1] = columns[0];
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return conv_images(&v, n, kw % 2 == 0 ? short_border : conv_row);
}
