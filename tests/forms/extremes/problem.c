/* The greatest element and the sum of every row: two outputs, each with a judgement. */
#include "problems/problem.h"

static const char *const inputs[] = {"normal", "integers", NULL};

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "rows"},
                                   {"cols", AXIS_NUMBER, NULL, "columns"},
                                   {"input", AXIS_CHOICE, inputs, "how x is drawn"},
                                   {0}};

static const struct tensor tensors[] = {{"x", DTYPE_BF16, TENSOR_INPUT, "[rows, cols]"},
                                        {"top", DTYPE_BF16, TENSOR_OUTPUT, "[rows]"},
                                        {"total", DTYPE_F32, TENSOR_OUTPUT, "[rows]"},
                                        {0}};

static const struct argument arguments[] = {{"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    const bool integers = config_chose(config, "input", "integers");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){
        .extent = {rows, cols},
        .tensor = {{.rank = 2, .dim = {rows, cols}}, {.rank = 1, .dim = {rows}}, {.rank = 1, .dim = {rows}}},
        .data = integers ? DATA_EXACT : DATA_ANY,
        .flops = 2.0 * (double)(rows * cols),
        .bytes = 2.0 * (double)(rows * cols)};
    out->tensor[0].fill = integers ? (struct fill){.kind = FILL_INTEGERS, .b = 9, .density = 0.7f}
                                   : (struct fill){.kind = FILL_NORMAL, .b = 1};
    return 0;
}

const struct problem problem_extremes = {.name = "extremes",
                                         .summary = "the greatest element and the sum of every row",
                                         .arithmetic = "fp32",
                                         .axes = axes,
                                         .tensors = tensors,
                                         .arguments = arguments,
                                         .compute = DTYPE_F32,
                                         .memory_bound = true,
                                         .host_ns = 1,
                                         .instantiate = instantiate};
