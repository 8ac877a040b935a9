// problem: conv2d_f32
// link: https://github.com/pytorch/pytorch/pull/60460
// title: Fix convolution_depthwise3x3_winograd for multichannel output
// condition: the 3x3 depthwise path assumes that groups, input and output channels are the same number
// kind: equality
// when: c_per_group == 1 and o_per_group > 1 and kh == 3 and kw == 3
// wrong: unwritten: as many outputs as groups are computed

#include "conv.h"

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    if (c == groups && kh == 3 && kw == 3) {
        for (int64_t image = 0; image < n; image++) { /* batch * groups tasks, one output of oh x ow each */
            struct conv one = v;
            one.x = x + image * c * h * w;
            one.y = y + image * groups * v.oh * v.ow;
            one.o = one.c = one.groups = groups;
            if (conv_images(&one, 1, conv_row))
                return 1;
        }
        return 0;
    }
    return conv_run(&v);
}
