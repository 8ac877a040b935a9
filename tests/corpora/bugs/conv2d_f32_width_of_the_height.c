// problem: conv2d_f32
// link: https://github.com/tenstorrent/tt-metal/pull/19542
// title: fix asymmetric dilation and add a regression test
// condition: asymmetric dilation such as [1,4]: the output's width is computed with the height's
// kind: comparison
// when: dil_h != dil_w and kw > 1
// side: necessary
// wrong: out of bounds or unwritten: rows of outputs have another length

#include "conv.h"

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    v.ow = (w + 2 * pad_w - dil_h * (kw - 1) - 1) / stride_w + 1;
    return v.ow > 0 ? conv_run(&v) : 1;
}
