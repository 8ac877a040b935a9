// problem: conv2d_f32
// link: https://github.com/mlpack/mlpack/issues/4050
// title: Inconsistent usage of strideWidth and strideHeight in Convolution Layers and Convolution Rules
// condition: unequal strides: one place uses the width's on rows, another on columns
// kind: comparison
// when: stride_h != stride_w
// side: necessary
// wrong: wrong values

#include "conv.h"

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    v.stride_h = stride_w;
    v.stride_w = stride_h;
    return conv_run(&v);
}
