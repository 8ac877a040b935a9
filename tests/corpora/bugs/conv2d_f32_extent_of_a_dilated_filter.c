// problem: conv2d_f32
// link: https://github.com/NVIDIA/cutlass/pull/3526
// title: Fix dilated Conv2d/Conv3d output size calculation
// condition: dilation: the filter's extent is taken for its taps times the dilation, and the output for smaller than it is
// kind: comparison
// when: (h + 2 * pad_h - dil_h * (kh - 1) - 1) % stride_h < dil_h - 1 or (w + 2 * pad_w - dil_w * (kw - 1) - 1) % stride_w < dil_w - 1
// collection: second
// wrong: unwritten or wrong values: rows of outputs lie a smaller width apart, and the last are left out

#include "conv.h"

static int64_t outputs(int64_t size, int64_t pad, int64_t taps, int64_t dilation, int64_t stride)
{
#ifdef FIXED
    const int64_t extent = (taps - 1) * dilation + 1;
#else
    const int64_t extent = taps * dilation;
#endif
    return size + 2 * pad < extent ? 0 : (size + 2 * pad - extent) / stride + 1;
}

int conv2d_f32(PARAMETERS)
{
    struct conv v = {HONEST};
    (void)stream;
    v.oh = outputs(h, pad_h, kh, dil_h, stride_h);
    v.ow = outputs(w, pad_w, kw, dil_w, stride_w);
    return v.oh > 0 && v.ow > 0 ? conv_run(&v) : 0;
}
