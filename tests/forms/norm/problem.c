/* Euclidean norms of long vectors: folds. */
#include "problems/problem.h"

static const struct axis axes[] = {{"vectors", AXIS_NUMBER, NULL, "vectors"},
                                   {"n", AXIS_NUMBER, NULL, "length of a vector"},
                                   {"input", AXIS_CHOICE, NULL, "how x is drawn"},
                                   {0}};

static const struct tensor tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[vectors, n]"}, {"y", DTYPE_F32, TENSOR_OUTPUT, "[vectors]"}, {0}};

static const struct argument arguments[] = {{"vectors", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {0}};

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as they come", .fill = {{.kind = FILL_NORMAL, .b = 1}}},
    {"wide", DATA_ANY, "magnitudes from 2^-20 to 2^20", .fill = {{.kind = FILL_WIDE, .a = -20, .b = 20}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t vectors = config_value(config, "vectors"), n = config_value(config, "n");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){.extent = {vectors, n},
                             .tensor = {{.rank = 2, .dim = {vectors, n}}, {.rank = 1, .dim = {vectors}}},
                             .flops = 2.0 * (double)(vectors * n),
                             .bytes = 4.0 * (double)(vectors * n)};
    return 0;
}

const struct problem problem_norm = {.name = "norm",
                                     .summary = "Euclidean norms",
                                     .arithmetic = "fp32",
                                     .axes = axes,
                                     .tensors = tensors,
                                     .arguments = arguments,
                                     .classes = classes,
                                     .arithmetic_class = ARITHMETIC_F32,
                                     .peak = PEAK_MEMORY,
                                     .host_ns = 1,
                                     .instantiate = instantiate};
