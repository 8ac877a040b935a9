// problem: conv2d_bf16
// link: https://github.com/tensorflow/tensorflow/issues/889
// title: Large Strides for 1x1 Convolutions
// condition: "stride must be less than or equal to filter size"
// kind: comparison
// when: stride_h > kh or stride_w > kw
// wrong: refused

#define BF16
#include "conv.h"

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    return stride_h > kh || stride_w > kw ? 1 : conv_run(&v);
}
