/* A problem for tests, with features that no problem of the tool combines: arguments of every type, rows that
 * lie apart, bases aligned to less than 16 bytes, extents of 0, and the formats f16, e5m2, i8 and bool.
 *
 *     y[r, c] = mask[c] ? (negate ? -x[r, c] : x[r, c]) * scale * weight[c] + shift + offset + bias[c] : 0
 *
 * and once with y in-out, which keeps its old value where the mask is 0. */
#include "scaled.h"

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "rows of x and y", .empty = true},
                                   {"cols", AXIS_NUMBER, NULL, "elements of a row", .empty = true},
                                   {"gap_x", AXIS_NUMBER, NULL, "elements between two rows of x"},
                                   {"gap_y", AXIS_NUMBER, NULL, "elements between two rows of y"},
                                   {"negate", AXIS_NUMBER, NULL, "a flag"},
                                   {"input", AXIS_CHOICE, NULL, "how values are drawn"},
                                   {0}};

static const struct argument arguments[] = {
    {"rows", ARGUMENT_I64},  {"cols", ARGUMENT_I64},   {"ldx", ARGUMENT_I64},
    {"ldy", ARGUMENT_I64},   {"offset", ARGUMENT_I32}, {"negate", ARGUMENT_BOOL},
    {"scale", ARGUMENT_F32}, {"shift", ARGUMENT_F64},  {0}};

static int steep(const struct config *config, struct random *random, struct instance *out)
{
    (void)config, (void)random;
    out->scalar[SCALED_SCALE] = 3.1;
    out->scalar[SCALED_SHIFT] = 0;
    return 0;
}

#define MASK_AND_WEIGHTS                                                                                     \
    [SCALED_MASK] = {.kind = FILL_MOSTLY, .a = 1, .b = 2, .density = 0.3f},                                  \
    [SCALED_WEIGHT] = {.kind = FILL_NORMAL, .a = 1, .b = 0.5f},                                              \
    [SCALED_BIAS] = {.kind = FILL_NORMAL, .b = 2}, [SCALED_Y] = {.kind = FILL_NORMAL, .b = 4}

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "plain values",
     .fill = {[SCALED_X] = {.kind = FILL_NORMAL, .b = 20}, MASK_AND_WEIGHTS}},
    {"steep", DATA_ANY, "other scalars",
     .fill = {[SCALED_X] = {.kind = FILL_NORMAL, .b = 4}, MASK_AND_WEIGHTS}, .adjust = steep},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    const int64_t ldx = cols + config_value(config, "gap_x"), ldy = cols + config_value(config, "gap_y");
    const int align = dtype_row(config->problem->tensors[SCALED_Y].dtype)->bits / 8;
    const double elements = (double)rows * (double)cols;
    (void)shape_random, (void)content_random;
    *out = (struct instance){.extent = {rows, cols, ldx, ldy, -3, config_value(config, "negate")},
                             .scalar = {[SCALED_SCALE] = 0.1, [SCALED_SHIFT] = 0.2},
                             .tensor = {[SCALED_X] = {2, {rows, cols}, .pitch = ldx, .align = 4},
                                        [SCALED_MASK] = {1, {cols}, .align = 1},
                                        [SCALED_WEIGHT] = {1, {cols}},
                                        [SCALED_BIAS] = {1, {cols}, .align = 8},
                                        [SCALED_Y] = {2, {rows, cols}, .pitch = ldy, .align = align}},
                             .flops = 5 * elements,
                             .bytes = 6 * elements};
    return 0;
}

#define TENSORS(type, role)                                                                                  \
    {                                                                                                        \
        {"x", DTYPE_F32, TENSOR_INPUT, "[rows, cols]", "rows lie ldx apart; aligned to 4 bytes"},            \
            {"mask", DTYPE_BOOL, TENSOR_INPUT, "[cols]", "aligned to 1 byte"},                               \
            {"weight", DTYPE_F16, TENSOR_INPUT, "[cols]"},                                                   \
            {"bias", DTYPE_E5M2, TENSOR_INPUT, "[cols]", "aligned to 8 bytes"},                              \
            {"y", type, role, "[rows, cols]", "rows lie ldy apart; aligned to an element"},                  \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }
static const struct tensor tensors_f16[] = TENSORS(DTYPE_F16, TENSOR_OUTPUT),
                           tensors_i8[] = TENSORS(DTYPE_I8, TENSOR_OUTPUT),
                           tensors_inout[] = TENSORS(DTYPE_F16, TENSOR_INOUT);

#define PROBLEM(variant)                                                                                     \
    const struct problem problem_scaled_##variant = {.name = "scaled_" #variant,                             \
                                                     .summary = "rows scaled and shifted",                   \
                                                     .arithmetic = "fp32, rounded once",                     \
                                                     .axes = axes,                                           \
                                                     .tensors = tensors_##variant,                           \
                                                     .arguments = arguments,                                 \
                                                     .classes = classes,                                     \
                                                     .arithmetic_class = ARITHMETIC_F32,                     \
                                                     .peak = PEAK_MEMORY,                                    \
                                                     .host_ns = 10,                                          \
                                                     .instantiate = instantiate}
PROBLEM(f16);
PROBLEM(i8);
PROBLEM(inout);
