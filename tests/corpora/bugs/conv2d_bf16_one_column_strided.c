// problem: conv2d_bf16
// link: https://github.com/pytorch/pytorch/pull/188426
// title: Fix incorrect CPU bf16 conv3d when innermost output dim is 1 and strided
// condition: one column of outputs, and a stride above 1 along it; a stride of 1 is right
// kind: equality
// when: stride_w > 1 and (w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w == 0
// side: necessary
// collection: third
// wrong: wrong values: a lone output is the second of a pair, and lies one column behind the first

#define BF16
#include "conv.h"

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
#ifdef FIXED
    const int64_t step = stride_w;
#else
    const int64_t step = 1;
#endif
    if (v.ow == 1) /* the first of the pair lies a stride to the left */
        v.pad_w += stride_w - step;
    return conv_run(&v);
}
