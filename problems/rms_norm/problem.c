#include "problems/needles.h"
#include "problems/problem.h"

static const char *const eps[] = {"published", "zero", "large", NULL};

static const struct axis axes[] = {
    {"rows", AXIS_NUMBER, NULL, "independent rows: tokens"},
    {"cols", AXIS_NUMBER, NULL, "elements of a row: the hidden size"},
    {"eps", AXIS_CHOICE, eps, "what is added to the mean square: 1e-6, 0 or 0.5"},
    {"input", AXIS_CHOICE, NULL, "how x and weight are drawn"},
    {0}};

static const struct tensor tensors[] = {{"x", DTYPE_BF16, TENSOR_INPUT, "[rows, cols]"},
                                        {"weight", DTYPE_BF16, TENSOR_INPUT, "[cols]"},
                                        {"y", DTYPE_BF16, TENSOR_OUTPUT, "[rows, cols]"},
                                        {0}};

static const struct argument arguments[] = {
    {"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {"eps", ARGUMENT_F32}, {0}};

enum { X, WEIGHT, Y };

static float needle(int i)
{
    return 1024.0f + 8.0f * (float)i;
}

/* Values that make up nearly all of a row's mean square, at places that faulty kernels tend to drop: the last
 * row and column, and the first column after whole vectors and tiles. */
static int plant_needles(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    needles_plant(&out->tensor[X].fill, out->extent[0], out->extent[1], 8, 256, random, needle);
    return 0;
}

/* With eps = 0, fp32 cannot distinguish the norm of a row of zeros or subnormals from 0. */
static int keep_norms(const struct config *config, struct random *random, struct instance *out)
{
    (void)random;
    if (config_chose(config, "eps", "zero"))
        out->tensor[X].fill = (struct fill){.kind = FILL_NANS, .a = 1, .b = 1, .density = 0x1p-10f};
    return 0;
}

/* The published weights are about 1, which hides a kernel that ignores them. */
#define WEIGHTS [WEIGHT] = {.kind = FILL_UNIFORM, .a = 0.5f, .b = 2}

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as published: deviation 1", .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, WEIGHTS}},
    {"small", DATA_ANY, "mean squares near the published eps, which a wrong eps changes by half",
     .fill = {[X] = {.kind = FILL_NORMAL, .b = 0x1p-10f}, WEIGHTS}},
    {"needle", DATA_ANY, "a few values that are nearly all of their row: dropped or doubled, they spoil it",
     .discriminating = 1, .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, WEIGHTS}, .adjust = plant_needles},
    {"wide", DATA_ANY, "magnitudes from 2^-12 to 2^12: squares that bf16 or fp16 cannot hold",
     .fill = {[X] = {.kind = FILL_WIDE, .a = -12, .b = 11}, [WEIGHT] = {.kind = FILL_WIDE, .a = -4, .b = 3}}},
    {"signs", DATA_ANY,
     "all of one size: every result is the weight's, and a sum of squares in few bits stops",
     .discriminating = 2, .fill = {[X] = {.kind = FILL_SIGNS, .b = 1}, WEIGHTS}},
    {"offset", DATA_ANY, "a mean of 8: whoever subtracts it computes another norm",
     .fill = {[X] = {.kind = FILL_NORMAL, .a = 8, .b = 1}, WEIGHTS}},
    {"special", DATA_ANY,
     "rows with NaN, infinities, zeros of both signs, subnormals (the last two where eps > 0)",
     .fill = {[X] = {.kind = FILL_SPECIAL, .b = 1}, WEIGHTS}, .adjust = keep_norms},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    const float e = config_chose(config, "eps", "zero")    ? 0
                    : config_chose(config, "eps", "large") ? 0.5f
                                                           : 1e-6f;
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){.extent = {rows, cols},
                             .scalar = {0, 0, e},
                             .tensor = {{.rank = 2, .dim = {rows, cols}},
                                        {.rank = 1, .dim = {cols}},
                                        {.rank = 2, .dim = {rows, cols}}},
                             .flops = 4.0 * (double)rows * (double)cols,
                             .bytes = 4.0 * (double)rows * (double)cols + 2.0 * (double)cols};
    return 0;
}

const struct problem problem_rms_norm = {
    .name = "rms_norm",
    .summary = "bf16 rows over their root mean square, times a weight a column",
    .arithmetic = "sums of squares in fp32, within a relative 2^-12; x / rms may be rounded to bf16 before "
                  "the weight",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .arithmetic_class = ARITHMETIC_BF16_OPERANDS,
    .peak = PEAK_MEMORY,
    .classes = classes,
    .half = {0, 1, 0},
    .published_atol = 1e-2,
    .published_rtol = 1e-2,
    .host_ns = 6,
    .instantiate = instantiate,
};
