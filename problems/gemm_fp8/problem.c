#include "../problem.h"

#include <math.h>

static const char *const inputs[] = {"normal", "integers", "needle", "uniform",
                                     "wide",   "cancel",   "special", NULL};

static const struct axis axes[] = {
    {"m", AXIS_NUMBER, NULL, "rows of x and y"},
    {"n", AXIS_NUMBER, NULL, "rows of weight, columns of y"},
    {"k", AXIS_NUMBER, NULL, "length of every dot product"},
    {"input", AXIS_CHOICE, inputs, "how x, weight and scale are drawn"},
    {0}};

static const struct tensor tensors[] = {{"x", DTYPE_E4M3, TENSOR_INPUT, "[m, k]"},
                                        {"weight", DTYPE_E4M3, TENSOR_INPUT, "[n, k]"},
                                        {"scale", DTYPE_F32, TENSOR_INPUT, "[n]"},
                                        {"y", DTYPE_BF16, TENSOR_OUTPUT, "[m, n]"},
                                        {0}};

static const char *const extents[] = {"m", "n", "k", NULL};

enum { X, WEIGHT, SCALE, Y };

/* Weights as published: W = N(0, 0.02^2), scale = max_k |W| / 448, weight = W / scale, so that the
 * largest weight of a row is near 448. The largest of k normals is about sqrt(2 ln k) deviations. */
static void fill_published(struct instance *out, int64_t k)
{
    const double top = sqrt(2 * log((double)k + 2));
    out->tensor[X].fill = (struct fill){.kind = FILL_UNIFORM, .a = -4, .b = 4};
    out->tensor[WEIGHT].fill = (struct fill){.kind = FILL_NORMAL, .b = (float)(448 / top)};
    out->tensor[SCALE].fill = (struct fill){.kind = FILL_UNIFORM,
                                            .a = (float)(0.9 * 0.02 * top / 448),
                                            .b = (float)(1.1 * 0.02 * top / 448)};
}

/* Sparse small integers and power-of-two scales. The density keeps sums within a few hundred: exact
 * in fp32, in a 13-bit aligned accumulator and, mostly, in the bf16 result itself, so a single term
 * dropped, doubled or misplaced shows. The corners that tails forget are never zero. */
static void fill_integers(struct instance *out, int64_t m, int64_t n, int64_t k,
                          struct random *random)
{
    const float largest = k <= 64 ? 3 : 1;
    const double square = largest == 1 ? 1 : 14.0 / 3; /* mean square of the nonzero values */
    const double wanted = 1200 / (square * square * (double)k);
    const float density = (float)(wanted < 1 ? sqrt(wanted) : 1);

    out->tensor[X].fill = (struct fill){.kind = FILL_INTEGERS, .b = largest, .density = density};
    out->tensor[WEIGHT].fill = out->tensor[X].fill;
    out->tensor[SCALE].fill = (struct fill){.kind = FILL_POWERS, .a = -3, .b = 3, .density = 1};
    for (int i = 0; i < 6; i++) {
        int64_t depth = i < 2 ? k - 1 : (int64_t)random_below(random, (uint64_t)k);
        int64_t row = i % 2 ? (int64_t)random_below(random, (uint64_t)m) : m - 1;
        int64_t col = i % 2 ? (int64_t)random_below(random, (uint64_t)n) : n - 1;
        out->tensor[X].fill.planted[i] = (struct fill_planted){row * k + depth, 1};
        out->tensor[WEIGHT].fill.planted[i] = (struct fill_planted){col * k + depth, 1};
    }
    out->tensor[X].fill.planted_count = out->tensor[WEIGHT].fill.planted_count = 6;
    out->data = DATA_EXACT;
}

/* One large term at the last k, at a tile edge and at random places, over integers: exact as above. */
static void plant_needles(struct instance *out, int64_t m, int64_t n, int64_t k,
                          struct random *random)
{
    const int64_t depths[] = {k - 1, (k - 1) & ~(int64_t)15, (k - 1) & ~(int64_t)127, k / 2, 0};
    struct fill *x = &out->tensor[X].fill, *weight = &out->tensor[WEIGHT].fill;
    for (int i = 0; i < 10; i++) {
        int64_t depth = depths[i % 5];
        int64_t row = i ? (int64_t)random_below(random, (uint64_t)m) : m - 1;
        int64_t col = i ? (int64_t)random_below(random, (uint64_t)n) : n - 1;
        x->planted[i] = (struct fill_planted){row * k + depth, i % 2 ? -24.0f : 24.0f};
        weight->planted[i] = (struct fill_planted){col * k + depth, i % 3 ? 20.0f : -28.0f};
    }
    x->planted_count = weight->planted_count = 10;
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
    if (config_chose(config, "input", "integers")) {
        fill_integers(out, m, n, k, content_random);
    } else if (config_chose(config, "input", "needle")) {
        fill_integers(out, m, n, k, content_random);
        plant_needles(out, m, n, k, content_random);
    } else if (config_chose(config, "input", "uniform")) {
        out->tensor[X].fill = (struct fill){.kind = FILL_UNIFORM, .a = 0, .b = 1};
        out->tensor[WEIGHT].fill = (struct fill){.kind = FILL_UNIFORM, .a = 0, .b = 1};
        out->data = DATA_ANY;
    } else if (config_chose(config, "input", "wide")) { /* subnormals of e4m3 start below 2^-6 */
        out->tensor[X].fill = (struct fill){.kind = FILL_WIDE, .a = -9, .b = 7};
        out->tensor[WEIGHT].fill = out->tensor[X].fill;
    } else if (config_chose(config, "input", "cancel")) {
        out->tensor[X].fill = (struct fill){.kind = FILL_CANCEL, .b = 2, .inner = k};
        out->tensor[WEIGHT].fill = (struct fill){.kind = FILL_UNIFORM, .a = 0.5f, .b = 2};
        out->data = DATA_ANY;
    } else if (config_chose(config, "input", "special")) {
        out->tensor[X].fill = (struct fill){.kind = FILL_NANS, .b = 2,
                                            .density = (float)fmin(0.05, 0.3 / dk)};
        out->tensor[WEIGHT].fill = (struct fill){.kind = FILL_NANS, .b = 100,
                                                 .density = (float)fmin(0.05, 0.3 / dk)};
    }
    return 0;
}

const struct problem problem_gemm_fp8 = {
    .name = "gemm_fp8",
    .summary = "FP8 (e4m3) matrix product with a scale per output column, bf16 result",
    .arithmetic = "products and sums in fp32 or in the fp8 MMA class of the GPU in hand; the sum may "
                  "be rounded to bf16 before the scale",
    .axes = axes,
    .tensors = tensors,
    .extents = extents,
    .compute = DTYPE_E4M3,
    .published_atol = 0.2,
    .published_rtol = 0.2,
    .host_ns = 4,
    .instantiate = instantiate,
};
