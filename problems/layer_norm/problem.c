#include "problems/needles.h"
#include "problems/problem.h"

static const char *const eps[] = {"published", "small", "large", NULL};

static const struct axis axes[] = {
    {"rows", AXIS_NUMBER, NULL, "independent rows"},
    {"cols", AXIS_NUMBER, NULL, "elements of a row"},
    {"eps", AXIS_CHOICE, eps, "what is added to the variance: 1e-5, 1e-12 or 0.5"},
    {"input", AXIS_CHOICE, NULL, "how x, gamma and beta are drawn"},
    {0}};

static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[rows, cols]"},
                                        {"gamma", DTYPE_F32, TENSOR_INPUT, "[cols]"},
                                        {"beta", DTYPE_F32, TENSOR_INPUT, "[cols]"},
                                        {"y", DTYPE_F32, TENSOR_OUTPUT, "[rows, cols]"},
                                        {"mean", DTYPE_F32, TENSOR_OUTPUT, "[rows]"},
                                        {"rstd", DTYPE_F32, TENSOR_OUTPUT, "[rows]"},
                                        {0}};

static const struct argument arguments[] = {
    {"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {"eps", ARGUMENT_F32}, {0}};

enum { X, GAMMA, BETA };

static float needle(int i)
{
    return (i % 2 ? -1 : 1) * (1000.0f + 8.0f * (float)i);
}

/* Outliers at places that faulty kernels tend to drop; they make up the variance. */
static int plant_needles(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    needles_plant(&out->tensor[X].fill, out->extent[0], out->extent[1], 4, 256, random, needle);
    return 0;
}

/* The published parameters are 1 and 0, which hides a kernel that ignores them. */
#define AFFINE [GAMMA] = {.kind = FILL_UNIFORM, .a = 0.5f, .b = 2}, [BETA] = {.kind = FILL_NORMAL, .b = 1}

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as published: deviation 1", .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, AFFINE}},
    {"offset", DATA_ANY, "a mean of 64: the mean square less the squared mean has few right digits",
     .fill = {[X] = {.kind = FILL_NORMAL, .a = 64, .b = 1}, AFFINE}},
    {"small", DATA_ANY, "variances near the published eps",
     .fill = {[X] = {.kind = FILL_NORMAL, .b = 0.003f}, AFFINE}},
    {"needle", DATA_ANY,
     "a few values that are nearly all of a row's variance: dropped or doubled, they spoil it",
     .discriminating = 1, .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, AFFINE}, .adjust = plant_needles},
    {"integers", DATA_ANY, "whole numbers up to 8: means and variances of few digits", .discriminating = 2,
     .fill = {[X] = {.kind = FILL_INTEGERS, .b = 8, .density = 0.9f}, AFFINE}},
    {"wide", DATA_ANY, "magnitudes from 2^-12 to 2^12",
     .fill = {[X] = {.kind = FILL_WIDE, .a = -12, .b = 11}, AFFINE}},
    {"nan", DATA_ANY, "an element in 2000 is NaN: so is its row",
     .fill = {[X] = {.kind = FILL_NANS, .b = 1, .density = 0.0005f}, AFFINE}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    const float e = config_chose(config, "eps", "small")   ? 1e-12f
                    : config_chose(config, "eps", "large") ? 0.5f
                                                           : 1e-5f;
    const double elements = (double)rows * (double)cols;
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){.extent = {rows, cols},
                             .scalar = {0, 0, e},
                             .tensor = {{.rank = 2, .dim = {rows, cols}},
                                        {.rank = 1, .dim = {cols}},
                                        {.rank = 1, .dim = {cols}},
                                        {.rank = 2, .dim = {rows, cols}},
                                        {.rank = 1, .dim = {rows}},
                                        {.rank = 1, .dim = {rows}}},
                             .flops = 8.0 * elements,
                             .bytes = 8.0 * elements + 8.0 * (double)(rows + cols)};
    return 0;
}

const struct problem problem_layer_norm = {
    .name = "layer_norm",
    .summary = "fp32 rows normalized by mean and deviation, both of which are outputs, too",
    .arithmetic =
        "sums in fp32, within 2^-12 of the sum of magnitudes; the variance from deviations (two passes, "
        "Welford, merged parts), not from the mean square less the squared mean",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .arithmetic_class = ARITHMETIC_F32,
    .peak = PEAK_MEMORY,
    .classes = classes,
    .half = {0, 1, 0},
    .published_atol = 1e-4,
    .published_rtol = 1e-4,
    .host_ns = 4,
    .instantiate = instantiate,
};
