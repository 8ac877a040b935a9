#include "problems/needles.h"
#include "problems/problem.h"

#include <math.h>

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "independent rows"},
                                   {"cols", AXIS_NUMBER, NULL, "elements of a row"},
                                   {"input", AXIS_CHOICE, NULL, "how the logits are drawn"},
                                   {0}};

static const struct tensor tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[rows, cols]"}, {"y", DTYPE_F32, TENSOR_OUTPUT, "[rows, cols]"}, {0}};

static const struct argument arguments[] = {{"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {0}};

enum { X, Y };

static float needle(int i)
{
    return 30.0f + (float)i / 4;
}

/* A value far above the rest at places that faulty kernels tend to drop. If the maximum or the sum omits it,
 * the whole row is wrong. */
static int plant_needles(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    needles_plant(&out->tensor[X].fill, out->extent[0], out->extent[1], 32, 1024, random, needle);
    return 0;
}

/* "normal" and "extreme" are published. The published inputs neither overflow without the max subtraction nor
 * need a careful sum; `large` and `digits` require both: exp(-16.74) = 0.9 * 2^-24. */
static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as published: deviation 4", .fill = {[X] = {.kind = FILL_NORMAL, .b = 4}}},
    {"extreme", DATA_ANY,
     "as published: up to four logits of a row are 30, the rest of no weight beside them",
     .fill = {[X] = {.kind = FILL_EXTREME, .a = 30, .b = 2}}},
    {"large", DATA_ANY, "around 200: exponentials overflow unless the maximum is subtracted",
     .fill = {[X] = {.kind = FILL_NORMAL, .a = 200, .b = 4}}},
    {"digits", DATA_ANY, "terms below half an ulp of the running sum, which a plain sum loses",
     .fill = {[X] = {.kind = FILL_DIGITS, .a = -16.74f}}},
    {"needle", DATA_ANY,
     "a few logits far above the rest, at ends and tile edges: dropped, they spoil the row",
     .discriminating = 1, .fill = {[X] = {.kind = FILL_NORMAL, .b = 4}}, .adjust = plant_needles},
    {"wide", DATA_ANY, "magnitudes from 2^-20 to 2^10",
     .fill = {[X] = {.kind = FILL_WIDE, .a = -20, .b = 9}}},
    {"ties", DATA_ANY, "three values: many equal maxima",
     .fill = {[X] = {.kind = FILL_LEVELS, .a = -1, .b = 3}}},
    {"equal", DATA_ANY, "one value a row", .fill = {[X] = {.kind = FILL_ROWS_EQUAL, .b = 50}}},
    {"sorted", DATA_ANY, "rows rise or fall: a running maximum changes always or never",
     .fill = {[X] = {.kind = FILL_SORTED, .a = -20, .b = 20}}},
    {"negative", DATA_ANY, "around -200: all exponentials underflow unless the maximum is subtracted",
     .fill = {[X] = {.kind = FILL_NORMAL, .a = -200, .b = 4}}},
    {"integers", DATA_ANY,
     "whole numbers up to 8, a quarter of them 0: few different terms, many equal maxima",
     .discriminating = 2, .fill = {[X] = {.kind = FILL_INTEGERS, .b = 8, .density = 0.75f}}},
    {"special", DATA_ANY, "rows with NaN, infinities, zeros of both signs, subnormals",
     .fill = {[X] = {.kind = FILL_SPECIAL, .b = 4}}},
    /* If an element is less than 88 above a kernel's (wrong) maximum, its exponential is finite and the
     * quotients are right. So only this class shows an element that the maximum omits. The other values are
     * as published, so a kernel that samples a few of them cannot detect this class. */
    {"peak", DATA_ANY, "one of a row 200 above the rest, the last of every fourth row", .discriminating = 3,
     .fill = {[X] = {.kind = FILL_PEAK, .a = 200, .b = 1}}},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){.extent = {rows, cols},
                             .tensor = {{.rank = 2, .dim = {rows, cols}}, {.rank = 2, .dim = {rows, cols}}},
                             .flops = 5.0 * (double)rows * (double)cols,
                             .bytes = 8.0 * (double)rows * (double)cols};
    return 0;
}

const struct problem problem_softmax = {
    .name = "softmax",
    .summary = "row-wise softmax of fp32 rows, long rows included",
    .arithmetic = "fp32 exponentials after subtracting a maximum, or of logits half an ulp off; the "
                  "denominator within a relative 2^-12; results below 2^-126 may be flushed to zero",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .arithmetic_class = ARITHMETIC_F32,
    .peak = PEAK_MEMORY,
    .classes = classes,
    .half = {0, 1, -INFINITY},
    .published_atol = 1e-5,
    .published_rtol = 1e-5,
    .host_ns = 18,
    .instantiate = instantiate,
};
