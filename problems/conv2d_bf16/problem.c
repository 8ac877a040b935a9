#include "problems/conv2d.h"

static const struct tensor tensors[] = {
    {"x", DTYPE_BF16, TENSOR_INPUT, "[n, c, h, w]"},
    {"weight", DTYPE_BF16, TENSOR_INPUT, "[o, c / groups, kh, kw]"},
    {"bias", DTYPE_F32, TENSOR_INPUT, "[o]"},
    {"y", DTYPE_BF16, TENSOR_OUTPUT,
     "[n, o, oh, ow], oh = (h + 2 pad_h - dil_h (kh - 1) - 1) / stride_h + 1 rounded down, ow likewise"},
    {0}};

const struct problem problem_conv2d_bf16 = {
    .name = "conv2d_bf16",
    .summary = "bf16 grouped 2-D convolution with a bias, NCHW",
    .arithmetic = "products and sums in fp32 or in the 16-bit MMA class of the GPU in hand; the sum may be "
                  "rounded to bf16 before "
                  "the bias, which is fp32; then one rounding to bf16",
    .axes = conv2d_axes,
    .tensors = tensors,
    .arguments = conv2d_arguments,
    .derived = conv2d_derived,
    .arithmetic_class = ARITHMETIC_MMA16,
    .peak = PEAK_BF16,
    .classes = conv2d_classes,
    .half = {0, 1, 0},
    .published_atol = 1e-2,
    .published_rtol = 1e-2,
    .host_ns = 4,
    .instantiate = conv2d_instantiate,
};
