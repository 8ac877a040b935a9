/* A grouped convolution of images, NCHW: a grouped contraction whose output is not row-major. */
#include "problems/problem.h"

static const struct axis axes[] = {
    {"images", AXIS_NUMBER, NULL, "images"},
    {"channels", AXIS_NUMBER, NULL, "of the input; a multiple of groups"},
    {"height", AXIS_NUMBER, NULL, "rows of an image"},
    {"width", AXIS_NUMBER, NULL, "columns of an image"},
    {"filters", AXIS_NUMBER, NULL, "channels of the output; a multiple of groups"},
    {"window", AXIS_NUMBER, NULL, "rows and columns of a filter; odd"},
    {"groups", AXIS_NUMBER, NULL, "of channels, each with its filters"},
    {"stride", AXIS_NUMBER, NULL, "from one output to the next"},
    {"input", AXIS_CHOICE, NULL, "how both are drawn"},
    {0}};

static const struct tensor tensors[] = {
    {"x", DTYPE_BF16, TENSOR_INPUT, "[images, channels, height, width]"},
    {"w", DTYPE_BF16, TENSOR_INPUT, "[filters, channels / groups, window, window]"},
    {"y", DTYPE_F32, TENSOR_OUTPUT, "[images, filters, height / stride, width / stride], rounded up"},
    {0}};

static const struct argument arguments[] = {
    {"images", ARGUMENT_I64}, {"channels", ARGUMENT_I64}, {"height", ARGUMENT_I64},
    {"width", ARGUMENT_I64},  {"filters", ARGUMENT_I64},  {"window", ARGUMENT_I64},
    {"groups", ARGUMENT_I64}, {"stride", ARGUMENT_I64},   {0}};

static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as they come",
     .fill = {{.kind = FILL_NORMAL, .b = 1}, {.kind = FILL_NORMAL, .b = 1}}},
    {"integers", DATA_EXACT, "whole numbers: every sum is exact",
     .fill = {{.kind = FILL_INTEGERS, .b = 5, .density = 0.7f},
              {.kind = FILL_INTEGERS, .b = 5, .density = 0.7f}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t images = config_value(config, "images"), channels = config_value(config, "channels");
    const int64_t height = config_value(config, "height"), width = config_value(config, "width");
    const int64_t filters = config_value(config, "filters"), window = config_value(config, "window");
    const int64_t groups = config_value(config, "groups"), stride = config_value(config, "stride");
    const int64_t down = (height + stride - 1) / stride, across = (width + stride - 1) / stride;
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){.extent = {images, channels, height, width, filters, window, groups, stride},
                             .tensor = {{.rank = 4, .dim = {images, channels, height, width}},
                                        {.rank = 4, .dim = {filters, channels / groups, window, window}},
                                        {.rank = 4, .dim = {images, filters, down, across}}},
                             .flops = 2.0 * (double)(images * filters * down * across) *
                                      (double)(channels / groups * window * window),
                             .bytes = 2.0 * (double)(images * channels * height * width)};
    return 0;
}

const struct problem problem_conv = {.name = "conv",
                                     .summary =
                                         "a grouped convolution, padded so that its centre stays inside",
                                     .arithmetic = "fp32 sums of exact products",
                                     .axes = axes,
                                     .tensors = tensors,
                                     .arguments = arguments,
                                     .classes = classes,
                                     .arithmetic_class = ARITHMETIC_MMA16,
                                     .peak = PEAK_BF16,
                                     .host_ns = 1,
                                     .instantiate = instantiate};
