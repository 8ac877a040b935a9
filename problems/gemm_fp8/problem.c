#include "problems/product.h"

#include <math.h>

static const struct axis axes[] = {{"m", AXIS_NUMBER, NULL, "rows of x and y"},
                                   {"n", AXIS_NUMBER, NULL, "rows of weight, columns of y"},
                                   {"k", AXIS_NUMBER, NULL, "length of every dot product"},
                                   {"input", AXIS_CHOICE, NULL, "how x, weight and scale are drawn"},
                                   {0}};

static const struct tensor tensors[] = {{"x", DTYPE_E4M3, TENSOR_INPUT, "[m, k]"},
                                        {"weight", DTYPE_E4M3, TENSOR_INPUT, "[n, k]"},
                                        {"scale", DTYPE_F32, TENSOR_INPUT, "[n]"},
                                        {"y", DTYPE_BF16, TENSOR_OUTPUT, "[m, n]"},
                                        {0}};

static const struct argument arguments[] = {
    {"m", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {0}};

enum { X, WEIGHT, SCALE, Y };

/* Weights as published: W = N(0, 0.02^2), scale = max_k |W| / 448, weight = W / scale, so the largest weight
 * of a row is near 448. The largest of k normal values is about sqrt(2 ln k) deviations. */
static double largest_of(int64_t k)
{
    return sqrt(2 * log((double)k + 2));
}

static int published_scales(const struct config *config, struct random *random, struct instance *out)
{
    const double top = largest_of(out->extent[2]);
    (void)config;
    (void)random;
    out->tensor[SCALE].fill = (struct fill){
        .kind = FILL_UNIFORM, .a = (float)(0.9 * 0.02 * top / 448), .b = (float)(1.1 * 0.02 * top / 448)};
    return 0;
}

static int published(const struct config *config, struct random *random, struct instance *out)
{
    out->tensor[WEIGHT].fill.b = (float)(448 / largest_of(out->extent[2]));
    return published_scales(config, random, out);
}

static struct operand operand_of(struct instance *out, int tensor)
{
    return product_operand(&out->tensor[tensor].fill, out->tensor[tensor].dim[0], out->extent[2], false);
}

static int integers(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    product_integers(operand_of(out, X), operand_of(out, WEIGHT), out->extent[2], random);
    return 0;
}

static int needles(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    product_needles(operand_of(out, X), operand_of(out, WEIGHT), out->extent[2], random);
    return 0;
}

/* Terms of one sign. A unit that keeps 13 bits loses up to 2^-13 of its running sum per product, always in
 * one direction. Over 16384 dense terms that is as much as the result, and no bound could tell it from a
 * wrong result. So the terms are integers, thinned to about 85 products of mean 56.25 = 7.5^2. Sums are about
 * 4800, with a deviation of 700: exact for every unit up to 2^13, and with more bits than bf16, fp16 or a
 * shorter accumulator holds. */
static int thin(const struct config *config, struct random *random, struct instance *out)
{
    const float density = (float)fmin(1, sqrt(85 / (double)out->extent[2]));
    (void)config;
    (void)random;
    out->tensor[X].fill.density = out->tensor[WEIGHT].fill.density = density;
    return 0;
}

/* e4m3 has no infinities. */
static int special(const struct config *config, struct random *random, struct instance *out)
{
    product_special(operand_of(out, X), operand_of(out, WEIGHT), out->extent[2], false);
    out->tensor[WEIGHT].fill.b = 100;
    return published_scales(config, random, out);
}

#define WIDE                                                                                                 \
    {                                                                                                        \
        .kind = FILL_WIDE, .a = -9, .b = 7                                                                   \
    } /* subnormals of e4m3 start below 2^-6 */
#define FEW_LEVELS                                                                                           \
    {                                                                                                        \
        .kind = FILL_MOSTLY, .a = 0, .b = 16                                                                 \
    }
#define POWERS_OF_TWO                                                                                        \
    {                                                                                                        \
        .kind = FILL_POWERS, .a = -3, .b = 3, .density = 1                                                   \
    }

/* Exact classes except `scales` have scales that are powers of two. The signs of all other classes are
 * random. In `cancel` the pairs (v w, -v w') have random signs, and the part of a pair that a partial sum
 * holds has at most the square of both. */
static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published: x in [-4, 4), weights up to about 448",
     .fill = {[X] = {.kind = FILL_UNIFORM, .a = -4, .b = 4}, [WEIGHT] = {.kind = FILL_NORMAL}},
     .adjust = published},
    {"integers", DATA_EXACT,
     "whole numbers whose sums a 13-bit accumulator holds: a dropped or doubled term shows",
     .discriminating = 1, .fill = {[SCALE] = POWERS_OF_TWO}, .adjust = integers},
    {"needle", DATA_EXACT, "the same with large terms at the last k and at tile edges", .discriminating = 2,
     .fill = {[SCALE] = POWERS_OF_TWO}, .adjust = needles},
    {"uniform", DATA_EXACT, "few terms of one sign, with sums of 12 and 13 bits: shorter accumulators show",
     .fill = {[X] = FEW_LEVELS, [WEIGHT] = FEW_LEVELS, [SCALE] = POWERS_OF_TWO}, .adjust = thin},
    {"wide", DATA_SIGN_RANDOM, "magnitudes from 2^-9 to 2^8: subnormals of e4m3",
     .fill = {[X] = WIDE, [WEIGHT] = WIDE}, .adjust = published_scales},
    {"cancel", DATA_SIGN_RANDOM, "pairs of terms that nearly cancel",
     .fill = {[X] = PRODUCT_CANCEL_A, [WEIGHT] = PRODUCT_CANCEL_B}, .adjust = published_scales},
    {"special", DATA_SIGN_RANDOM, "NaN in both operands: they reach their own rows and columns alone",
     .adjust = special},
    {"scales", DATA_EXACT, "exact sums with any scale: its own rounding shows",
     .fill = {[SCALE] = {.kind = FILL_UNIFORM, .a = 0.25f, .b = 4}}, .adjust = integers},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t m = config_value(config, "m"), n = config_value(config, "n");
    const int64_t k = config_value(config, "k");
    const double dm = (double)m, dn = (double)n, dk = (double)k;
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){.extent = {m, n, k},
                             .tensor = {{.rank = 2, .dim = {m, k}},
                                        {.rank = 2, .dim = {n, k}},
                                        {.rank = 1, .dim = {n}},
                                        {.rank = 2, .dim = {m, n}}},
                             .flops = 2 * dm * dn * dk,
                             .bytes = dm * dk + dn * dk + 4 * dn + 2 * dm * dn};
    return 0;
}

const struct problem problem_gemm_fp8 = {
    .name = "gemm_fp8",
    .summary = "FP8 (e4m3) matrix product with a scale per output column, bf16 result",
    .arithmetic = "products and sums in fp32 or in the fp8 MMA class of the GPU in hand; the sum may "
                  "be rounded to bf16 before the scale",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .arithmetic_class = ARITHMETIC_FP8,
    .peak = PEAK_E4M3,
    .classes = classes,
    .half = {0, 1, 0},
    .published_atol = 0.2,
    .published_rtol = 0.2,
    .host_ns = 4,
    .instantiate = instantiate,
};
