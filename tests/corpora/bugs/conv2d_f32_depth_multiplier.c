// problem: conv2d_f32
// link: https://github.com/ARM-software/ComputeLibrary/issues/553
// title: Depthwise convolution with depth multiplier 2.
// condition: results with a depth multiplier of 2 are not accurate; it is not supported for 3x3
// kind: equality
// when: c_per_group == 1 and o_per_group > 1 and groups > 1 and kh == 3 and kw == 3
// wrong: wrong values: filter f reads channel f, counted round, where o / c filters share one

#include "conv.h"

static int64_t round_channel(const struct conv *v, int64_t f, int64_t ch)
{
    return (f + ch) % v->c;
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    if (c == groups && kh == 3 && kw == 3)
        v.channel = round_channel;
    return conv_run(&v);
}
