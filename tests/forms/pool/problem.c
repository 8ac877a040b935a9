/* Average pooling: elements, each from a window. */
#include "problems/problem.h"

static const struct axis axes[] = {{"channels", AXIS_NUMBER, NULL, "channels"},
                                   {"height", AXIS_NUMBER, NULL, "rows of the image"},
                                   {"width", AXIS_NUMBER, NULL, "columns of the image"},
                                   {"window", AXIS_NUMBER, NULL, "rows and columns that are averaged"},
                                   {"stride", AXIS_NUMBER, NULL, "from one window to the next"},
                                   {"input", AXIS_CHOICE, NULL, "how x is drawn"},
                                   {0}};

static const struct tensor tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[channels, height, width]"},
    {"y", DTYPE_F32, TENSOR_OUTPUT, "[channels, height / stride, width / stride], rounded up"},
    {0}};

static const struct argument arguments[] = {{"channels", ARGUMENT_I64}, {"height", ARGUMENT_I64},
                                            {"width", ARGUMENT_I64},    {"window", ARGUMENT_I64},
                                            {"stride", ARGUMENT_I64},   {0}};

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as they come", .fill = {{.kind = FILL_NORMAL, .b = 1}}},
    {"integers", DATA_EXACT, "whole numbers: every sum is exact",
     .fill = {{.kind = FILL_INTEGERS, .b = 9, .density = 0.7f}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t channels = config_value(config, "channels"), height = config_value(config, "height");
    const int64_t width = config_value(config, "width"), stride = config_value(config, "stride");
    const int64_t window = config_value(config, "window");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){
        .extent = {channels, height, width, window, stride},
        .tensor = {{.rank = 3, .dim = {channels, height, width}},
                   {.rank = 3,
                    .dim = {channels, (height + stride - 1) / stride, (width + stride - 1) / stride}}},
        .flops = (double)(channels * height * width),
        .bytes = 8.0 * (double)(channels * height * width)};
    return 0;
}

const struct problem problem_pool = {.name = "pool",
                                     .summary = "averages over windows of an image",
                                     .arithmetic = "fp32",
                                     .axes = axes,
                                     .tensors = tensors,
                                     .arguments = arguments,
                                     .classes = classes,
                                     .arithmetic_class = ARITHMETIC_F32,
                                     .peak = PEAK_MEMORY,
                                     .host_ns = 1,
                                     .instantiate = instantiate};
