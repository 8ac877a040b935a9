#include "problems/conv2d.h"

static const struct tensor tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[n, c, h, w]"},
    {"weight", DTYPE_F32, TENSOR_INPUT, "[o, c / groups, kh, kw]"},
    {"bias", DTYPE_F32, TENSOR_INPUT, "[o]"},
    {"y", DTYPE_F32, TENSOR_OUTPUT,
     "[n, o, oh, ow], oh = (h + 2 pad_h - dil_h (kh - 1) - 1) / stride_h + 1 rounded down, ow likewise"},
    {0}};

const struct problem problem_conv2d_f32 = {
    .name = "conv2d_f32",
    .summary = "fp32 grouped 2-D convolution with a bias, NCHW",
    .arithmetic =
        "products and sums in fp32, in any order and any split, or Winograd's F(2x2, 3x3) of them; TF32 is a "
        "downgrade, its three-term form is not",
    .axes = conv2d_axes,
    .tensors = tensors,
    .arguments = conv2d_arguments,
    .derived = conv2d_derived,
    .arithmetic_class = ARITHMETIC_F32,
    .peak = PEAK_F32,
    .classes = conv2d_classes,
    .half = {0, 1, 0},
    .published_atol = 1e-4,
    .published_rtol = 1e-4,
    .host_ns = 4,
    .instantiate = conv2d_instantiate,
};
