#include "problems/problem.h"

#include <math.h>

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "rows"},
                                   {"n", AXIS_NUMBER, NULL, "length of a row"},
                                   {"k", AXIS_NUMBER, NULL, "how many of the largest are wanted; at most n"},
                                   {"input", AXIS_CHOICE, NULL, "how x is drawn; never NaN"},
                                   {0}};

static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[rows, n]"},
                                        {"values", DTYPE_F32, TENSOR_OUTPUT, "[rows, k], descending"},
                                        {"indices", DTYPE_I64, TENSOR_OUTPUT, "[rows, k]"},
                                        {0}};

static const struct argument arguments[] = {
    {"rows", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {0}};

enum { X, VALUES, INDICES };

static const struct input_class classes[] = {
    {"normal", DATA_EXACT, "as published: deviation 1", .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}}},
    {"ties", DATA_EXACT, "seven values: the k-th largest is one of many, and no index comes twice",
     .fill = {[X] = {.kind = FILL_LEVELS, .a = -3, .b = 7}}},
    {"equal", DATA_EXACT, "one value a row", .fill = {[X] = {.kind = FILL_ROWS_EQUAL, .b = 4}}},
    {"sorted", DATA_EXACT,
     "even rows rise, odd ones fall: every element is among the largest so far, or none",
     .fill = {[X] = {.kind = FILL_SORTED, .a = -4, .b = 4}}},
    {"reversed", DATA_EXACT, "even rows fall, odd ones rise",
     .fill = {[X] = {.kind = FILL_SORTED, .a = 4, .b = -4}}},
    {"negative", DATA_EXACT, "all below 0: what was padded with zeros shows",
     .fill = {[X] = {.kind = FILL_NORMAL, .a = -100, .b = 4}}},
    {"infinities", DATA_EXACT,
     "rows with infinities of both signs, nearly all -inf in some: what was padded with -inf shows",
     .fill = {[X] = {.kind = FILL_INFINITIES, .b = 4}}},
    {"clusters", DATA_EXACT,
     "the largest of a row lie side by side: one thread's or one tile's share overflows",
     .fill = {[X] = {.kind = FILL_CLUSTER, .b = 4}}},
    {"zeros", DATA_EXACT, "zeros of both signs, with subnormals", .fill = {[X] = {.kind = FILL_ZEROS}}},
    {"neighbours", DATA_EXACT, "consecutive floats in any order: only their last bits tell them apart",
     .fill = {[X] = {.kind = FILL_NEIGHBOURS}}},
    {0}};

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
                             .flops = elements, /* one comparison each */
                             .bytes = 4 * elements + 12 * (double)rows * (double)k};
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
    .classes = classes,
    .arithmetic_class = ARITHMETIC_EXACT,
    .peak = PEAK_MEMORY,
    .half = {0, 1, -INFINITY},
    .published_atol = 1e-4,
    .published_rtol = 1e-4,
    .host_ns = 30,
    .instantiate = instantiate,
};
