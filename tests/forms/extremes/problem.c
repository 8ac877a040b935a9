/* The greatest element and the sum of every row: two outputs, each with a judgement. */
#include "problems/problem.h"

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "rows"},
                                   {"cols", AXIS_NUMBER, NULL, "columns"},
                                   {"input", AXIS_CHOICE, NULL, "how x is drawn"},
                                   {0}};

static const struct tensor tensors[] = {{"x", DTYPE_BF16, TENSOR_INPUT, "[rows, cols]"},
                                        {"top", DTYPE_BF16, TENSOR_OUTPUT, "[rows]"},
                                        {"total", DTYPE_F32, TENSOR_OUTPUT, "[rows]"},
                                        {0}};

static const struct argument arguments[] = {{"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {0}};

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as they come", .fill = {{.kind = FILL_NORMAL, .b = 1}}},
    {"integers", DATA_EXACT, "whole numbers: every sum is exact",
     .fill = {{.kind = FILL_INTEGERS, .b = 9, .density = 0.7f}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){
        .extent = {rows, cols},
        .tensor = {{.rank = 2, .dim = {rows, cols}}, {.rank = 1, .dim = {rows}}, {.rank = 1, .dim = {rows}}},
        .flops = 2.0 * (double)(rows * cols),
        .bytes = 2.0 * (double)(rows * cols)};
    return 0;
}

const struct problem problem_extremes = {.name = "extremes",
                                         .summary = "the greatest element and the sum of every row",
                                         .arithmetic = "fp32",
                                         .axes = axes,
                                         .tensors = tensors,
                                         .arguments = arguments,
                                         .classes = classes,
                                         .arithmetic_class = ARITHMETIC_F32,
                                         .peak = PEAK_MEMORY,
                                         .host_ns = 1,
                                         .instantiate = instantiate};
