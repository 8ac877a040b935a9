#include "problems/problem.h"

#include <math.h>

/* "normal" and "extreme" are published; the published inputs neither overflow without the max
 * subtraction nor need a careful sum, so `large` and `digits` ask for both. */
static const char *const inputs[] = {"normal", "extreme", "large",    "digits",   "needle",  "wide", "ties",
                                     "equal",  "sorted",  "negative", "integers", "special", "peak", NULL};

static const struct axis axes[] = {
    {"rows", AXIS_NUMBER, NULL, "independent rows"},
    {"cols", AXIS_NUMBER, NULL, "elements of a row"},
    {"input", AXIS_CHOICE, inputs,
     "how the logits are drawn. peak: one of a row 200 above the rest, the last of every fourth row"},
    {0}};

static const struct tensor tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[rows, cols]"}, {"y", DTYPE_F32, TENSOR_OUTPUT, "[rows, cols]"}, {0}};

static const struct argument arguments[] = {{"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {0}};

/* A value far above the rest at the places that a kernel is likely to forget: whoever drops one from
 * the maximum or from the sum gets the whole row wrong. */
static void plant_needles(struct fill *fill, int64_t rows, int64_t cols, struct random *random)
{
    const int64_t where[] = {cols - 1, 0, cols & ~(int64_t)31, cols & ~(int64_t)1023,
                             (int64_t)random_below(random, (uint64_t)cols)};
    for (int i = 0; i < FILL_MAX_PLANTED; i++) {
        int64_t col = where[i % 5] < cols ? where[i % 5] : cols - 1;
        int64_t row = i == 0 ? rows - 1 : (int64_t)random_below(random, (uint64_t)rows);
        fill->planted[i] = (struct fill_planted){row * cols + col, 30.0f + (float)i / 4};
    }
    fill->planted_count = FILL_MAX_PLANTED;
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    struct fill fill = {.kind = FILL_NORMAL, .a = 0, .b = 4, .inner = cols};
    (void)shape_random;

    if (config_chose(config, "input", "extreme"))
        fill = (struct fill){.kind = FILL_EXTREME, .a = 30, .b = 2, .inner = cols};
    else if (config_chose(config, "input", "large"))
        fill = (struct fill){.kind = FILL_NORMAL, .a = 200, .b = 4, .inner = cols};
    else if (config_chose(config, "input", "digits")) /* exp(a) = 0.9 * 2^-24 */
        fill = (struct fill){.kind = FILL_DIGITS, .a = -16.74f, .inner = cols};
    else if (config_chose(config, "input", "needle"))
        plant_needles(&fill, rows, cols, content_random);
    else if (config_chose(config, "input", "wide"))
        fill = (struct fill){.kind = FILL_WIDE, .a = -20, .b = 9};
    else if (config_chose(config, "input", "ties"))
        fill = (struct fill){.kind = FILL_LEVELS, .a = -1, .b = 3};
    else if (config_chose(config, "input", "equal"))
        fill = (struct fill){.kind = FILL_ROWS_EQUAL, .a = 0, .b = 50, .inner = cols};
    else if (config_chose(config, "input", "sorted"))
        fill = (struct fill){.kind = FILL_SORTED, .a = -20, .b = 20, .inner = cols};
    else if (config_chose(config, "input", "negative"))
        fill = (struct fill){.kind = FILL_NORMAL, .a = -200, .b = 4};
    else if (config_chose(config, "input", "integers"))
        fill = (struct fill){.kind = FILL_INTEGERS, .b = 8, .density = 0.75f};
    else if (config_chose(config, "input", "special"))
        fill = (struct fill){.kind = FILL_SPECIAL, .b = 4, .inner = cols};
    else if (config_chose(config, "input", "peak"))
        fill = (struct fill){.kind = FILL_PEAK, .a = 200, .b = 4, .inner = cols};

    *out = (struct instance){
        .extent = {rows, cols},
        .tensor = {{.rank = 2, .dim = {rows, cols}, .fill = fill}, {.rank = 2, .dim = {rows, cols}}},
        .data = DATA_ANY,
        .flops = 5.0 * (double)rows * (double)cols,
        .bytes = 8.0 * (double)rows * (double)cols};
    return 0;
}

static const char *const discriminating[] = {"needle", "integers", NULL};

const struct problem problem_softmax = {
    .name = "softmax",
    .summary = "row-wise softmax of fp32 rows, long rows included",
    .arithmetic = "fp32 exponentials after subtracting a maximum, or of logits half an ulp off; the "
                  "denominator within a relative 2^-12; results below 2^-126 may be flushed to zero",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .compute = DTYPE_F32,
    .memory_bound = true,
    .discriminating = discriminating,
    .half = {0, 1, -INFINITY},
    .published_atol = 1e-5,
    .published_rtol = 1e-5,
    .host_ns = 18,
    .instantiate = instantiate,
};
