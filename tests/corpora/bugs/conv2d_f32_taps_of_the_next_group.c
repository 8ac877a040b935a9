// problem: conv2d_f32
// link: https://github.com/modular/modular/issues/6129
// title: [BUG]: ops.conv2d produces incorrect results with groups > 1 and large kernel size (K=128)
// condition: groups > 1 and a large kernel; sizes of 1 and 3 are correct, 128 is not; sized down to above 4 taps
// kind: threshold
// when: groups > 1 and kw > 4
// wrong: wrong values: weights past the fourth tap are another group's

#include "conv.h"

static int64_t four_taps(const struct conv *v, int64_t f, int64_t ch, int64_t at)
{
    const int64_t next = (f + v->o / v->groups) % v->o; /* the filter of the next group */
    return conv_filter(v, at % v->kw < 4 ? f : next, ch, at);
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    if (groups > 1)
        v.filter = four_taps;
    return conv_run(&v);
}
