// problem: conv2d_f32
// link: https://github.com/alibaba/MNN/issues/2291
// title: CPUConvolutionDepthwise 在 H =2 和 W = 1时候计算错误
// condition: a depthwise convolution of images of one column that stays one column: 128 channels of 2 x 1, filters of 3 x 3, padding 1
// kind: equality
// when: c_per_group == 1 and o_per_group == 1 and groups > 1 and w == 1 and kw > 1 and (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h > 0 and (2 * pad_w - dil_w * (kw - 1)) / stride_w == 0 and pad_w % dil_w == 0 and pad_w <= dil_w * (kw - 1)
// side: necessary
// collection: third
// wrong: wrong values: rows and columns are swapped for speed, which is right for filters of one column alone

#include "conv.h"

/* The column becomes a row, and a filter's column its row. */
static void swap_sides(struct conv *v)
{
    const struct conv old = *v;
    v->h = 1;
    v->w = old.h;
    v->kh = 1;
    v->kw = old.kh;
    v->stride_h = 1;
    v->stride_w = old.stride_h;
    v->pad_h = old.pad_w;
    v->pad_w = old.pad_h;
    v->dil_h = 1;
    v->dil_w = old.dil_h;
    v->oh = 1;
    v->ow = old.oh;
}

static bool is_a_column(const struct conv *v)
{
    const bool image = v->w == 1 && v->ow == 1 && v->oh > 1;
#ifdef FIXED
    return image && v->kw == 1;
#else
    return image;
#endif
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    if (groups > 1 && c == groups && o == groups && is_a_column(&v))
        swap_sides(&v);
    return conv_run(&v);
}
