// problem: conv2d_f32
// link: https://github.com/Tencent/ncnn/issues/75
// title: a small error in the convolution layer's dilation
// condition: with dilation, the gap from a row of taps to the next is w * dilation less the kernel's extent, one dilation off
// kind: threshold
// when: dil_w > 1 and kh > 1
// side: necessary
// wrong: wrong values: each row of taps begins dilation - 1 columns further

#include "conv.h"

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    v.row_shift = dil_w - 1;
    return conv_run(&v);
}
