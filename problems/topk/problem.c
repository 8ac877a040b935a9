#include "problems/problem.h"

#include <math.h>

static const char *const inputs[] = {"normal",     "ties",     "equal", "sorted",     "reversed", "negative",
                                     "infinities", "clusters", "zeros", "neighbours", NULL};

static const struct axis axes[] = {
    {"rows", AXIS_NUMBER, NULL, "rows"},
    {"n", AXIS_NUMBER, NULL, "length of a row"},
    {"k", AXIS_NUMBER, NULL, "how many of the largest are wanted; at most n"},
    {"input", AXIS_CHOICE, inputs,
     "how x is drawn; never NaN. clusters: the largest of a row lie side by side; zeros: of both signs, with "
     "subnormals; neighbours: consecutive floats in any order"},
    {0}};

static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[rows, n]"},
                                        {"values", DTYPE_F32, TENSOR_OUTPUT, "[rows, k], descending"},
                                        {"indices", DTYPE_I64, TENSOR_OUTPUT, "[rows, k]"},
                                        {0}};

static const struct argument arguments[] = {
    {"rows", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {0}};

static struct fill fill_of(const struct config *config, int64_t n)
{
    struct fill fill = {.kind = FILL_NORMAL, .b = 1, .inner = n};
    if (config_chose(config, "input", "ties"))
        fill = (struct fill){.kind = FILL_LEVELS, .a = -3, .b = 7};
    else if (config_chose(config, "input", "equal"))
        fill = (struct fill){.kind = FILL_ROWS_EQUAL, .b = 4, .inner = n};
    else if (config_chose(config, "input", "sorted"))
        fill = (struct fill){.kind = FILL_SORTED, .a = -4, .b = 4, .inner = n};
    else if (config_chose(config, "input", "reversed"))
        fill = (struct fill){.kind = FILL_SORTED, .a = 4, .b = -4, .inner = n};
    else if (config_chose(config, "input", "negative"))
        fill = (struct fill){.kind = FILL_NORMAL, .a = -100, .b = 4};
    else if (config_chose(config, "input", "infinities"))
        fill = (struct fill){.kind = FILL_INFINITIES, .b = 4, .inner = n};
    else if (config_chose(config, "input", "clusters"))
        fill = (struct fill){.kind = FILL_CLUSTER, .b = 4, .inner = n};
    else if (config_chose(config, "input", "zeros"))
        fill = (struct fill){.kind = FILL_ZEROS, .inner = n};
    else if (config_chose(config, "input", "neighbours"))
        fill = (struct fill){.kind = FILL_NEIGHBOURS, .inner = n};
    return fill;
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), n = config_value(config, "n");
    const int64_t k = config_value(config, "k");
    const double elements = (double)rows * (double)n;
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){.extent = {rows, n, k},
                             .tensor = {{.rank = 2, .dim = {rows, n}},
                                        {.rank = 2, .dim = {rows, k}},
                                        {.rank = 2, .dim = {rows, k}}},
                             .data = DATA_EXACT,
                             .flops = elements, /* a comparison each */
                             .bytes = 4 * elements + 12 * (double)rows * (double)k};
    out->tensor[0].fill = fill_of(config, n);
    return 0;
}

const struct problem problem_topk = {
    .name = "topk",
    .summary = "the k largest of every fp32 row, descending, with their indices",
    .arithmetic = "none: the values are the k largest as a multiset, descending; indices are distinct and "
                  "carry the very bits; among equal values any order",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .compute = DTYPE_F32,
    .exact = true,
    .memory_bound = true,
    .half = {0, 1, -INFINITY},
    .published_atol = 1e-4,
    .published_rtol = 1e-4,
    .host_ns = 30,
    .instantiate = instantiate,
};
