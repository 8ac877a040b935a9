#include "problems/product.h"

#include <math.h>

static const char *const zeros[] = {"drawn", "spread", "low", "high", "equal", NULL};
enum { DRAWN, SPREAD, LOW, HIGH, EQUAL }; /* indices into the list above */

static const struct axis axes[] = {
    {"m", AXIS_NUMBER, NULL, "rows of x and y"},
    {"n", AXIS_NUMBER, NULL, "columns of w and y"},
    {"k", AXIS_NUMBER, NULL, "length of every dot product; even"},
    {"group", AXIS_NUMBER, NULL, "rows of w that share a scale and a zero; the last group may be shorter"},
    {"zero", AXIS_CHOICE, zeros,
     "zero points: 6..9 as published; 0..15; all 0; all 15; equal to most weights, which are then 0"},
    {"input", AXIS_CHOICE, NULL, "how x, the weights and their scales are drawn"},
    {0}};

static const struct tensor tensors[] = {
    {"x", DTYPE_BF16, TENSOR_INPUT, "[m, k]"},
    {"w_q", DTYPE_U8, TENSOR_INPUT, "[k/2, n], low nibble: even row of w, high nibble: odd"},
    {"scales", DTYPE_BF16, TENSOR_INPUT, "[ceil(k/group), n]"},
    {"zeros", DTYPE_BF16, TENSOR_INPUT, "[ceil(k/group), n]"},
    {"y", DTYPE_BF16, TENSOR_OUTPUT, "[m, n]"},
    {0}};

static const struct argument arguments[] = {
    {"m", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {"group", ARGUMENT_I64}, {0}};

enum { X, W_Q, SCALES, ZEROS, Y };

/* Sets the zero points by their axis, after the class. `equal` draws one number for them, and its own
 * weights: both nibbles of seven bytes in eight. */
static int fill_zeros(const struct config *config, struct random *random, struct instance *out)
{
    static const struct fill fills[] = {[DRAWN] = {.kind = FILL_LEVELS, .a = 6, .b = 4},
                                        [SPREAD] = {.kind = FILL_LEVELS, .a = 0, .b = 16},
                                        [LOW] = {.kind = FILL_CONSTANT, .a = 0},
                                        [HIGH] = {.kind = FILL_CONSTANT, .a = 15},
                                        [EQUAL] = {.kind = FILL_CONSTANT}};
    const int64_t choice = config_value(config, "zero");
    out->tensor[ZEROS].fill = fills[choice];
    if (choice == EQUAL) {
        const int zero = (int)random_below(random, 16);
        out->tensor[ZEROS].fill.a = (float)zero;
        out->tensor[W_Q].fill =
            (struct fill){.kind = FILL_MOSTLY, .a = (float)(zero * 17), .b = 256, .density = 0.125f};
    }
    return 0;
}

/* Sparse values of both signs: sum |x| is about 1200. Needles add 768 in large values at the last row of w
 * and at the ends of groups. */
static void plant(struct instance *out, float value, float other, struct random *random)
{
    const int64_t m = out->extent[0], k = out->extent[2], group = out->extent[3];
    const int64_t depths[] = {k - 1, (k - 1) / group * group, (k - 1) & ~(int64_t)63, k / 2, 0, k - 2};
    struct fill *x = &out->tensor[X].fill;
    const double density = 600 / (double)k;
    x->density = (float)fmin(1, density);
    for (int i = 0; i < FILL_MAX_PLANTED; i++) {
        const int64_t row = i < 6 ? m - 1 : (int64_t)random_below(random, (uint64_t)m);
        const int64_t depth = i < 12 ? depths[i % 6] : (int64_t)random_below(random, (uint64_t)k);
        x->planted[i] = (struct fill_planted){row * k + depth, i % 2 ? other : value};
    }
    x->planted_count = FILL_MAX_PLANTED;
}

static int integers(const struct config *config, struct random *random, struct instance *out)
{
    plant(out, 1, 1, random);
    return fill_zeros(config, random, out);
}

static int needles(const struct config *config, struct random *random, struct instance *out)
{
    plant(out, 48, -48, random);
    return fill_zeros(config, random, out);
}

/* Values of one sign: x from 0..7 up to 1024 rows, fewer levels beyond, 0 or 1 from 4096 on. sum |x| is about
 * 3600, and at most 8200. Sums have up to 22 bits, so a shorter accumulator or a rounded partial sum is
 * found. */
static int levels(const struct config *config, struct random *random, struct instance *out)
{
    const double count = floor(8192 / (double)out->extent[2]);
    out->tensor[X].fill.b = (float)fmax(2, fmin(8, count));
    return fill_zeros(config, random, out);
}

/* As published: groups of normal values of deviation 0.02, quantized from their minimum to their maximum. The
 * range of 128 normal values is 5.2 deviations on average, so a step is 0.0069 and the zero point 7.5. */
#define PUBLISHED_WEIGHTS                                                                                    \
    [W_Q] = {.kind = FILL_NIBBLES, .a = 7.5f, .b = 2.9f}, [SCALES] = {.kind = FILL_UNIFORM,                  \
                                                                      .a = 0.0058f,                          \
                                                                      .b = 0.008f}

/* Weights of arbitrary bytes and scales that are powers of two; x has integers. A sum with the zero points
 * applied before or after it adds |x| (q + zero) scale, at most 30 * 64 times sum |x| in units of 2^-3. For
 * sum |x| < 4369 that is below 2^23, and so exact in every unit. (If not all scales are 8, three times as
 * much is exact.) */
#define EXACT_WEIGHTS                                                                                        \
    [W_Q] = {.kind = FILL_LEVELS, .b = 256}, [SCALES] = {.kind = FILL_POWERS, .a = -3, .b = 3, .density = 1}

/* The signs of all inexact classes are random. In `cancel` the pairs (v w, -v w') have random signs. The part
 * of a pair that a partial sum holds, and what is rounded off it, have at most twice the square of both. */
static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published",
     .fill = {[X] = {.kind = FILL_NORMAL, .b = 1}, PUBLISHED_WEIGHTS}, .adjust = fill_zeros},
    {"integers", DATA_EXACT, "whole numbers in x, powers of two as scales: a dropped or doubled term shows",
     .discriminating = 1, .fill = {[X] = {.kind = FILL_INTEGERS, .b = 3}, EXACT_WEIGHTS}, .adjust = integers},
    {"needle", DATA_EXACT, "the same with large x at the last row of w and at groups' ends",
     .discriminating = 2, .fill = {[X] = {.kind = FILL_INTEGERS, .b = 3}, EXACT_WEIGHTS}, .adjust = needles},
    {"uniform", DATA_EXACT, "whole numbers of one sign, sums of up to 22 bits: shorter accumulators show",
     .fill = {[X] = {.kind = FILL_LEVELS}, EXACT_WEIGHTS}, .adjust = levels},
    {"wide", DATA_SIGN_RANDOM, "magnitudes of x from 2^-20 to 2^21: beyond fp16 on both sides",
     .fill = {[X] = {.kind = FILL_WIDE, .a = -20, .b = 20},
              [W_Q] = {.kind = FILL_LEVELS, .b = 256},
              [SCALES] = {.kind = FILL_WIDE, .a = -20, .b = 8}},
     .adjust = fill_zeros},
    {"cancel", DATA_SIGN_RANDOM, "neighbours in x nearly cancel",
     .fill = {[X] = {.kind = FILL_CANCEL, .b = 2}, PUBLISHED_WEIGHTS}, .adjust = fill_zeros},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t m = config_value(config, "m"), n = config_value(config, "n");
    const int64_t k = config_value(config, "k"), group = config_value(config, "group");
    const int64_t groups = (k + group - 1) / group;
    const double dm = (double)m, dn = (double)n, dk = (double)k;
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){.extent = {m, n, k, group},
                             .tensor = {{.rank = 2, .dim = {m, k}},
                                        {.rank = 2, .dim = {k / 2, n}},
                                        {.rank = 2, .dim = {groups, n}},
                                        {.rank = 2, .dim = {groups, n}},
                                        {.rank = 2, .dim = {m, n}}},
                             .flops = 2 * dm * dn * dk,
                             .bytes = 2 * dm * dk + dn * dk / 2 + 4 * (double)groups * dn + 2 * dm * dn};
    return 0;
}

const struct problem problem_gemm_w4a16 = {
    .name = "gemm_w4a16",
    .summary = "bf16 activations times 4-bit weights with a scale and a zero point per group",
    .arithmetic = "products and sums in fp32 or in the 16-bit MMA class of the GPU in hand; the weight "
                  "may be rounded to bf16; scale and zero point may be applied after the sum",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .arithmetic_class = ARITHMETIC_MMA16,
    .peak = PEAK_BF16,
    .classes = classes,
    .half = {0, 1, 0},
    .published_atol = 0.1,
    .published_rtol = 0.1,
    .host_ns = 1.6,
    .instantiate = instantiate,
};
