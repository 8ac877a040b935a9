// problem: conv2d_bf16
// link: https://github.com/majianjia/nnom/issues/84
// title: conv2d 1*1 with strides!=1 and cmsis-nn
// condition: the fast 1x1 function returns a size mismatch if strides are not 1 or pads not 0
// kind: equality
// when: kh == 1 and kw == 1 and stride_h + stride_w + pad_h + pad_w > 2
// wrong: refused

#define BF16
#include "conv.h"

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    if (kh == 1 && kw == 1 && (stride_h != 1 || stride_w != 1 || pad_h != 0 || pad_w != 0))
        return 1;
    return conv_run(&v);
}
