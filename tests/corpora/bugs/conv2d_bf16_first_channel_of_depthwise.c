// problem: conv2d_bf16
// link: https://github.com/ucb-bar/gemmini-rocc-tests/issues/21
// title: tiled_conv_dw wrong implementation
// condition: a depthwise convolution of several channels
// kind: equality
// when: c_per_group == 1 and o_per_group == 1 and groups > 1
// side: necessary
// collection: second
// wrong: wrong values: the pointer to the filters moves on from channel to channel, that to the image does not

#define BF16
#include "conv.h"

static int64_t first_channel(const struct conv *v, int64_t f, int64_t ch)
{
    (void)v;
    (void)f;
    (void)ch;
    return 0;
}

int conv2d_bf16(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
#ifdef FIXED
    (void)first_channel;
#else
    if (c == groups && o == groups)
        v.channel = first_channel;
#endif
    return conv_run(&v);
}
