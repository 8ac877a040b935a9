#include "problems/product.h"

#include <math.h>

static const char *const inputs[] = {"normal", "integers", "needle", "uniform", "wide",
                                     "cancel", "special",  "scales", NULL};

static const struct axis axes[] = {{"m", AXIS_NUMBER, NULL, "rows of x and y"},
                                   {"n", AXIS_NUMBER, NULL, "rows of weight, columns of y"},
                                   {"k", AXIS_NUMBER, NULL, "length of every dot product"},
                                   {"input", AXIS_CHOICE, inputs, "how x, weight and scale are drawn"},
                                   {0}};

static const struct tensor tensors[] = {{"x", DTYPE_E4M3, TENSOR_INPUT, "[m, k]"},
                                        {"weight", DTYPE_E4M3, TENSOR_INPUT, "[n, k]"},
                                        {"scale", DTYPE_F32, TENSOR_INPUT, "[n]"},
                                        {"y", DTYPE_BF16, TENSOR_OUTPUT, "[m, n]"},
                                        {0}};

static const struct argument arguments[] = {
    {"m", ARGUMENT_I64}, {"n", ARGUMENT_I64}, {"k", ARGUMENT_I64}, {0}};

enum { X, WEIGHT, SCALE, Y };

/* Weights as published: W = N(0, 0.02^2), scale = max_k |W| / 448, weight = W / scale, so that the
 * largest weight of a row is near 448. The largest of k normals is about sqrt(2 ln k) deviations. */
static void fill_published(struct instance *out, int64_t k)
{
    const double top = sqrt(2 * log((double)k + 2));
    out->tensor[X].fill = (struct fill){.kind = FILL_UNIFORM, .a = -4, .b = 4};
    out->tensor[WEIGHT].fill = (struct fill){.kind = FILL_NORMAL, .b = (float)(448 / top)};
    out->tensor[SCALE].fill = (struct fill){
        .kind = FILL_UNIFORM, .a = (float)(0.9 * 0.02 * top / 448), .b = (float)(1.1 * 0.02 * top / 448)};
}

/* Terms of one sign. A unit that keeps 13 bits loses up to 2^-13 of its running sum per product, all in one
 * direction: of 16384 dense terms as much as the result, and no bound could tell that from a wrong one. So they are
 * whole numbers, thinned to some 85 products of mean 56.25 = 7.5^2: sums of about 4800, with a deviation of 700, are
 * exact for every unit up to 2^13, and have more bits than bf16, fp16 or a shorter accumulator holds. */
static void fill_uniform(struct instance *out, int64_t k)
{
    const float density = (float)fmin(1, sqrt(85 / (double)k));
    const struct fill levels = {.kind = FILL_MOSTLY, .a = 0, .b = 16, .density = density};
    out->tensor[X].fill = out->tensor[WEIGHT].fill = levels;
}

/* Exact classes but `scales` have power-of-two scales. The signs of all others are random: of `cancel` those of pairs (v w, -v w'),
 * and the part of a pair that a partial sum holds has a square of at most theirs together. */
static void fill_class(const struct config *config, struct instance *out, struct random *random)
{
    const int64_t m = out->extent[0], n = out->extent[1], k = out->extent[2];
    struct fill *x = &out->tensor[X].fill, *weight = &out->tensor[WEIGHT].fill;
    const struct operand a = product_operand(x, m, k, false), b = product_operand(weight, n, k, false);

    if (config_chose(config, "input", "integers")) {
        product_integers(a, b, k, random);
        out->data = DATA_EXACT;
    } else if (config_chose(config, "input", "needle")) {
        product_needles(a, b, k, random);
        out->data = DATA_EXACT;
    } else if (config_chose(config, "input", "uniform")) {
        fill_uniform(out, k);
        out->data = DATA_EXACT;
    } else if (config_chose(config, "input", "wide")) { /* subnormals of e4m3 start below 2^-6 */
        *x = *weight = (struct fill){.kind = FILL_WIDE, .a = -9, .b = 7};
    } else if (config_chose(config, "input", "cancel")) {
        product_cancel(a, b, k);
    } else if (config_chose(config, "input", "special")) { /* e4m3 has no infinities */
        product_special(a, b, k, false);
        weight->b = 100;
    }
    if (config_chose(config, "input", "scales")) { /* any scale beside exact sums: its own rounding shows */
        product_integers(a, b, k, random);
        out->tensor[SCALE].fill = (struct fill){.kind = FILL_UNIFORM, .a = 0.25f, .b = 4};
        out->data = DATA_EXACT;
    } else if (out->data == DATA_EXACT)
        out->tensor[SCALE].fill = (struct fill){.kind = FILL_POWERS, .a = -3, .b = 3, .density = 1};
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t m = config_value(config, "m"), n = config_value(config, "n");
    const int64_t k = config_value(config, "k");
    const double dm = (double)m, dn = (double)n, dk = (double)k;
    (void)shape_random;

    *out = (struct instance){.extent = {m, n, k},
                             .tensor = {{.rank = 2, .dim = {m, k}},
                                        {.rank = 2, .dim = {n, k}},
                                        {.rank = 1, .dim = {n}},
                                        {.rank = 2, .dim = {m, n}}},
                             .data = DATA_SIGN_RANDOM,
                             .flops = 2 * dm * dn * dk,
                             .bytes = dm * dk + dn * dk + 4 * dn + 2 * dm * dn};
    fill_published(out, k);
    fill_class(config, out, content_random);
    return 0;
}

static const char *const discriminating[] = {"integers", "needle", NULL};

const struct problem problem_gemm_fp8 = {
    .name = "gemm_fp8",
    .summary = "FP8 (e4m3) matrix product with a scale per output column, bf16 result",
    .arithmetic = "products and sums in fp32 or in the fp8 MMA class of the GPU in hand; the sum may "
                  "be rounded to bf16 before the scale",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .compute = DTYPE_E4M3,
    .discriminating = discriminating,
    .half = {0, 1, 0},
    .published_atol = 0.2,
    .published_rtol = 0.2,
    .host_ns = 4,
    .instantiate = instantiate,
};
