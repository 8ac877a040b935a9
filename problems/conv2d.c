#include "conv2d.h"

#include <math.h>

const struct axis conv2d_axes[] = {{"n", AXIS_NUMBER, NULL, "images"},
                                   {"groups", AXIS_NUMBER, NULL, "of channels, each with its own filters"},
                                   {"c_per_group", AXIS_NUMBER, NULL, "channels of x that a filter sees"},
                                   {"o_per_group", AXIS_NUMBER, NULL, "filters of a group"},
                                   {"h", AXIS_NUMBER, NULL, "rows of an image"},
                                   {"w", AXIS_NUMBER, NULL, "columns of an image"},
                                   {"kh", AXIS_NUMBER, NULL, "rows of a filter"},
                                   {"kw", AXIS_NUMBER, NULL, "columns of a filter"},
                                   {"stride_h", AXIS_NUMBER, NULL, "rows from one output to the next"},
                                   {"stride_w", AXIS_NUMBER, NULL, "columns from one output to the next"},
                                   {"pad_h", AXIS_NUMBER, NULL, "absent rows above the image and below"},
                                   {"pad_w", AXIS_NUMBER, NULL, "absent columns on both sides"},
                                   {"dil_h", AXIS_NUMBER, NULL, "rows from one tap to the next"},
                                   {"dil_w", AXIS_NUMBER, NULL, "columns from one tap to the next"},
                                   {"input", AXIS_CHOICE, NULL, "how x, weight and bias are drawn"},
                                   {0}};

enum {
    ARG_N,
    ARG_C,
    ARG_H,
    ARG_W,
    ARG_O,
    ARG_KH,
    ARG_KW,
    ARG_STRIDE,
    ARG_PAD = 9,
    ARG_DIL = 11,
    ARG_GROUPS = 13
};

const struct argument conv2d_arguments[] = {
    {"n", ARGUMENT_I64},     {"c", ARGUMENT_I64},        {"h", ARGUMENT_I64},
    {"w", ARGUMENT_I64},     {"o", ARGUMENT_I64},        {"kh", ARGUMENT_I64},
    {"kw", ARGUMENT_I64},    {"stride_h", ARGUMENT_I64}, {"stride_w", ARGUMENT_I64},
    {"pad_h", ARGUMENT_I64}, {"pad_w", ARGUMENT_I64},    {"dil_h", ARGUMENT_I64},
    {"dil_w", ARGUMENT_I64}, {"groups", ARGUMENT_I64},   {0}};

enum { X, WEIGHT, BIAS, Y };

/* Terms per sum. */
static int64_t depth_of(const struct instance *out)
{
    return out->tensor[WEIGHT].dim[1] * out->tensor[WEIGHT].dim[2] * out->tensor[WEIGHT].dim[3];
}

static bool is_single(const struct config *config)
{
    return config->problem->tensors[X].dtype == DTYPE_F32;
}

/* May an honest fp32 kernel use Winograd's F(2x2, 3x3)? */
static bool may_transform(const struct config *config, const struct instance *out)
{
    const int64_t *e = out->extent;
    return is_single(config) && e[ARG_KH] == 3 && e[ARG_KW] == 3 && e[ARG_STRIDE] == 1 &&
           e[ARG_STRIDE + 1] == 1 && e[ARG_DIL] == 1 && e[ARG_DIL + 1] == 1;
}

/* --- places that faulty kernels drop --- */

/* An index along one dimension: the last, the first, the first after whole runs of 8 or 32, or any. */
static int64_t place_along(int64_t size, int kind, struct random *random)
{
    switch (kind) {
    case 0: return size - 1;
    case 1: return 0;
    case 2: return (size - 1) & ~(int64_t)7;
    case 3: return (size - 1) & ~(int64_t)31;
    default: return (int64_t)random_below(random, (uint64_t)size);
    }
}

/* Plants values: the first at the last element, the others at such an index along every dimension, drawn
 * independently. */
static void plant(struct instance_tensor *tensor, int count, float (*value)(int i, float scale), float scale,
                  struct random *random)
{
    for (int i = 0; i < count; i++) {
        int64_t index = 0;
        for (int d = 0; d < tensor->rank; d++)
            index = index * tensor->dim[d] +
                    place_along(tensor->dim[d], i == 0 ? 0 : (int)random_below(random, 6), random);
        tensor->fill.planted[i] = (struct fill_planted){index, value(i, scale)};
    }
    tensor->fill.planted_count = count;
}

static float alike(int i, float scale)
{
    (void)i;
    return scale;
}

static float by_turns(int i, float scale)
{
    return i % 2 ? -scale : scale;
}

/* --- adjustments beyond the table of classes --- */

enum { CORNERS = 6, NEEDLES = 12 };

/* About 1200 terms of a sum are nonzero (or all, if there are fewer). The sum is at most a few hundred: exact
 * in fp32 and in matrix units, and mostly in bf16. */
static void draw_short(struct instance *out)
{
    const double k = (double)depth_of(out);
    const float largest = k <= 64 ? 3 : 1;
    const double square = largest == 1 ? 1 : 14.0 / 3; /* mean square of the nonzero values */
    const double wanted = 1200 / (square * square * k);
    const struct fill fill = {
        .kind = FILL_INTEGERS, .b = largest, .density = (float)(wanted < 1 ? sqrt(wanted) : 1)};
    out->tensor[X].fill = out->tensor[WEIGHT].fill = fill;
}

/* About 40 of the terms have an odd integer of 13 to 18 bits, against +-1: in x for every second channel, in
 * weight for the others. A sum reaches at most 2^22. TF32, or bf16 in two parts, cannot represent such an
 * integer. Winograd's transforms sum about 13 times as much, in quarters, so that at most 3 such terms are
 * possible there. */
static void draw_long(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t k = depth_of(out), nonzero = k < 1200 ? k : 1200;
    const struct instance_tensor *weight = &out->tensor[WEIGHT];
    const double terms = may_transform(config, out) ? 1.5 : 40;
    const float turn = (float)random_below(random, 2);
    const struct fill fill = {.kind = FILL_ODD,
                              .a = turn,
                              .b = (float)fmin(1, terms / (double)nonzero),
                              .density = (float)sqrt((double)nonzero / (double)k),
                              .inner = weight->dim[1],
                              .step = out->extent[ARG_H] * out->extent[ARG_W]};
    out->tensor[X].fill = out->tensor[WEIGHT].fill = fill;
    out->tensor[WEIGHT].fill.a = 1 - turn;
    out->tensor[WEIGHT].fill.step = weight->dim[2] * weight->dim[3];
}

static int integers(const struct config *config, struct random *random, struct instance *out)
{
    if (is_single(config))
        draw_long(config, random, out);
    else
        draw_short(out);
    plant(&out->tensor[X], CORNERS, alike, 1, random);
    plant(&out->tensor[WEIGHT], CORNERS, alike, 1, random);
    return 0;
}

/* Large values that stay small enough for Winograd's transforms in fp32: 12 windows' worth of 24 * 20 are far
 * below 2^22. */
static int needles(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    draw_short(out);
    plant(&out->tensor[X], NEEDLES, by_turns, 24, random);
    plant(&out->tensor[WEIGHT], NEEDLES, by_turns, 20, random);
    return 0;
}

/* Filters whose taps nearly cancel in pairs, wherever the second tap of a pair lies. */
static int cancel(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    (void)random;
    out->tensor[WEIGHT].fill = (struct fill){.kind = FILL_CANCEL, .b = 2, .inner = depth_of(out)};
    return 0;
}

/* Only x gets special values, so that the case of an absent tap times a NaN weight does not arise. Some
 * weights are 0. */
static int special(const struct config *config, struct random *random, struct instance *out)
{
    const float density = (float)fmin(0.05, 0.3 / (double)depth_of(out));
    if (may_transform(config, out))
        return 0;
    out->tensor[X].fill =
        (struct fill){.kind = FILL_NANS, .a = is_single(config) ? 0 : 1, .b = 2, .density = density};
    plant(&out->tensor[WEIGHT], CORNERS, alike, 0, random);
    return 0;
}

#define NORMAL                                                                                               \
    {                                                                                                        \
        .kind = FILL_NORMAL, .b = 1                                                                          \
    }
#define WIDE                                                                                                 \
    {                                                                                                        \
        .kind = FILL_WIDE, .a = -16, .b = 16                                                                 \
    }
#define WHOLE_BIAS [BIAS] = {.kind = FILL_INTEGERS, .b = 15, .density = 1}

const struct input_class conv2d_classes[] = {
    {"normal", DATA_SIGN_RANDOM, "deviation 1", .fill = {[X] = NORMAL, [WEIGHT] = NORMAL, [BIAS] = NORMAL}},
    {"integers", DATA_EXACT,
     "whole numbers whose sums every admitted arithmetic holds: a dropped or doubled term shows",
     .discriminating = 1, .fill = {WHOLE_BIAS}, .adjust = integers},
    {"needle", DATA_EXACT, "the same, short, with large values at borders, last taps, channels and filters",
     .discriminating = 2, .fill = {WHOLE_BIAS}, .adjust = needles},
    {"uniform", DATA_ANY, "terms of one sign: what an accumulator loses adds up",
     .fill = {[X] = {.kind = FILL_UNIFORM, .a = 0, .b = 1},
              [WEIGHT] = {.kind = FILL_UNIFORM, .a = 0, .b = 1},
              [BIAS] = {.kind = FILL_UNIFORM, .a = 0, .b = 1}}},
    {"wide", DATA_SIGN_RANDOM, "magnitudes from 2^-16 to 2^17: products beyond fp16 on both sides",
     .fill = {[X] = WIDE, [WEIGHT] = WIDE, [BIAS] = WIDE}},
    {"cancel", DATA_ANY, "taps that nearly cancel in pairs against a positive x",
     .fill = {[X] = {.kind = FILL_UNIFORM, .a = 0.5f, .b = 2}, [BIAS] = NORMAL}, .adjust = cancel},
    {"special", DATA_SIGN_RANDOM,
     "NaN, in bf16 also infinities, in x: they reach their own windows and group alone",
     .fill = {[X] = {.kind = FILL_NORMAL, .b = 2}, [WEIGHT] = {.kind = FILL_NORMAL, .b = 2}, [BIAS] = NORMAL},
     .adjust = special},
    {0}};

/* --- shapes --- */

static int64_t output_extent(int64_t size, int64_t pad, int64_t dil, int64_t window, int64_t stride)
{
    return (size + 2 * pad - dil * (window - 1) - 1) / stride + 1;
}

static int64_t output_rows(const struct config *config)
{
    return output_extent(config_value(config, "h"), config_value(config, "pad_h"),
                         config_value(config, "dil_h"), config_value(config, "kh"),
                         config_value(config, "stride_h"));
}

static int64_t output_columns(const struct config *config)
{
    return output_extent(config_value(config, "w"), config_value(config, "pad_w"),
                         config_value(config, "dil_w"), config_value(config, "kw"),
                         config_value(config, "stride_w"));
}

/* Outside of the contract a window may be larger than its input; the extent is then 0. */
static int64_t at_least_none(int64_t extent)
{
    return extent > 0 ? extent : 0;
}

static int64_t derived_rows(const struct config *config, struct random *shape_random,
                            struct random *content_random)
{
    (void)shape_random;
    (void)content_random;
    return at_least_none(output_rows(config));
}

static int64_t derived_columns(const struct config *config, struct random *shape_random,
                               struct random *content_random)
{
    (void)shape_random;
    (void)content_random;
    return at_least_none(output_columns(config));
}

const struct derived conv2d_derived[] = {
    {"oh", DERIVED_EVERY, {"h", "kh", "stride_h", "pad_h", "dil_h"}, "rows of y", derived_rows, true},
    {"ow", DERIVED_EVERY, {"w", "kw", "stride_w", "pad_w", "dil_w"}, "columns of y", derived_columns, true},
    {0}};

int conv2d_instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t groups = config_value(config, "groups"), each = config_value(config, "c_per_group");
    const int64_t n = config_value(config, "n"), c = groups * each;
    const int64_t o = groups * config_value(config, "o_per_group");
    const int64_t h = config_value(config, "h"), w = config_value(config, "w");
    const int64_t kh = config_value(config, "kh"), kw = config_value(config, "kw");
    const int64_t stride_h = config_value(config, "stride_h"), stride_w = config_value(config, "stride_w");
    const int64_t pad_h = config_value(config, "pad_h"), pad_w = config_value(config, "pad_w");
    const int64_t dil_h = config_value(config, "dil_h"), dil_w = config_value(config, "dil_w");
    const int64_t oh = output_rows(config), ow = output_columns(config);
    const double inputs = (double)n * (double)c * (double)h * (double)w;
    const double outputs = (double)n * (double)o * (double)oh * (double)ow;
    const double depth = (double)each * (double)kh * (double)kw;
    const double size = dtype_row(config->problem->tensors[X].dtype)->bits / 8.0;
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){
        .extent = {n, c, h, w, o, kh, kw, stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, groups},
        .tensor = {{.rank = 4, .dim = {n, c, h, w}},
                   {.rank = 4, .dim = {o, each, kh, kw}},
                   {.rank = 1, .dim = {o}},
                   {.rank = 4, .dim = {n, o, oh, ow}}},
        .flops = 2 * outputs * depth,
        .bytes = size * (inputs + (double)o * depth + outputs) + 4 * (double)o};
    return 0;
}
