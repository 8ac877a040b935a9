// problem: conv2d_bf16
// link: https://github.com/ROCm/MIOpen/pull/3786
// title: [BUG] [CONV] Fix incorrect stride calculation when w=1/h=1 in MISA solvers
// condition: an image of one row or column, with a stride: n 3 c 1 h 1 w 1, filter 3 x 2, padding 2 x 1, stride 2 x 1
// kind: equality
// when: h == 1 and stride_h > 1 and 2 * pad_h - dil_h * (kh - 1) >= stride_h or w == 1 and stride_w > 1 and 2 * pad_w - dil_w * (kw - 1) >= stride_w
// side: necessary
// collection: second
// wrong: wrong values: the stride is clamped to 1 where there is nothing to stride over, and padding is

#define BF16
#include "conv.h"

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
#ifndef FIXED
    v.stride_h = h == 1 ? 1 : stride_h;
    v.stride_w = w == 1 ? 1 : stride_w;
#endif
    return conv_run(&v);
}
