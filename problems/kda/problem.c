#include "../problem.h"

#include <math.h>

static const char *const inputs[] = {"normal", "normalized", "onehot", "wide", NULL};
static const char *const decays[] = {"published", "long", "strong", "growth", "mixed", NULL};
static const char *const betas[] = {"sigmoid", "zero", "one", "mixed", NULL};

static const struct axis axes[] = {
    {"batch", AXIS_NUMBER, NULL, "sequences"},
    {"t", AXIS_NUMBER, NULL, "tokens of a sequence"},
    {"heads", AXIS_NUMBER, NULL, "heads"},
    {"dk", AXIS_NUMBER, NULL, "length of a query or key"},
    {"dv", AXIS_NUMBER, NULL, "length of a value"},
    {"decay", AXIS_CHOICE, decays,
     "log decays g: N(-0.05, 0.1); just below 0, a long memory; -0.5 to -8, 64 tokens far below e^-88; above 0 "
     "on average; these channel by channel"},
    {"beta", AXIS_CHOICE, betas, "how much of each update is made: between 0 and 1; 0; 1; all of these"},
    {"input", AXIS_CHOICE, inputs,
     "how q, k and v are drawn. normalized: |q| = |k| = 1; onehot: unit vectors and small integers"},
    {0}};

static const struct tensor tensors[] = {{"q", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads, dk]"},
                                        {"k", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads, dk]"},
                                        {"v", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads, dv]"},
                                        {"g", DTYPE_F32, TENSOR_INPUT, "[batch, t, heads, dk]"},
                                        {"beta", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads]"},
                                        {"o", DTYPE_BF16, TENSOR_OUTPUT, "[batch, t, heads, dv]"},
                                        {0}};

static const char *const extents[] = {"batch", "t", "heads", "dk", "dv", NULL};

enum { Q, K, V, G, BETA, O };

/* Growth is bounded over the whole sequence: by e^10 in any channel. */
static void fill_decay(const struct config *config, struct instance *out)
{
    struct fill *g = &out->tensor[G].fill;
    const float most = (float)fmin(0.05, 10 / (double)out->extent[1]);
    *g = (struct fill){.kind = FILL_NORMAL, .a = -0.05f, .b = 0.1f};
    if (config_chose(config, "decay", "long"))
        *g = (struct fill){.kind = FILL_UNIFORM, .a = -1e-3f, .b = 0};
    else if (config_chose(config, "decay", "strong"))
        *g = (struct fill){.kind = FILL_UNIFORM, .a = -8, .b = -0.5f};
    else if (config_chose(config, "decay", "growth"))
        *g = (struct fill){.kind = FILL_UNIFORM, .a = -most / 3, .b = most};
    else if (config_chose(config, "decay", "mixed"))
        *g = (struct fill){.kind = FILL_CHANNELS, .a = most, .inner = out->extent[3]};
}

/* sigmoid(N(0, 1)) has deviation 0.21; uniform numbers of that deviation stand in for it. */
static void fill_beta(const struct config *config, struct instance *out)
{
    struct fill *beta = &out->tensor[BETA].fill;
    *beta = (struct fill){.kind = FILL_UNIFORM, .a = 0.14f, .b = 0.86f};
    if (config_chose(config, "beta", "zero"))
        *beta = (struct fill){.kind = FILL_CONSTANT, .a = 0};
    else if (config_chose(config, "beta", "one"))
        *beta = (struct fill){.kind = FILL_CONSTANT, .a = 1};
    else if (config_chose(config, "beta", "mixed"))
        *beta = (struct fill){.kind = FILL_FRACTIONS};
}

/* |k|^2 stays below 2 in every class, so that the update never grows the state: as published up to 128
 * channels, and 1.28 on average beyond. */
static void fill_values(const struct config *config, struct instance *out)
{
    struct fill *q = &out->tensor[Q].fill, *k = &out->tensor[K].fill, *v = &out->tensor[V].fill;
    const int64_t dk = out->extent[3];
    *q = *k = *v = (struct fill){.kind = FILL_NORMAL, .b = 0.1f};
    k->b = (float)(0.1 * fmin(1, sqrt(128 / (double)dk)));
    if (config_chose(config, "input", "normalized")) {
        *q = *k = (struct fill){.kind = FILL_SIGNS, .b = (float)(1 / sqrt((double)dk))};
        v->b = 1;
    } else if (config_chose(config, "input", "onehot")) {
        *q = *k = (struct fill){.kind = FILL_ONEHOT, .b = 1, .inner = dk};
        *v = (struct fill){.kind = FILL_INTEGERS, .b = 8, .density = 1};
        out->data = DATA_ANY; /* keys repeat within a chunk, and roundings agree */
    } else if (config_chose(config, "input", "wide")) {
        *q = *v = (struct fill){.kind = FILL_WIDE, .a = -8, .b = 2};
    }
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t batch = config_value(config, "batch"), t = config_value(config, "t");
    const int64_t heads = config_value(config, "heads");
    const int64_t dk = config_value(config, "dk"), dv = config_value(config, "dv");
    const double at = (double)(batch * heads) * (double)t, chunk = 64; /* the published chunk */
    const double k = (double)dk, v = (double)dv;
    (void)shape_random;
    (void)content_random;

    *out = (struct instance){.extent = {batch, t, heads, dk, dv},
                             .tensor = {{.rank = 4, .dim = {batch, t, heads, dk}},
                                        {.rank = 4, .dim = {batch, t, heads, dk}},
                                        {.rank = 4, .dim = {batch, t, heads, dv}},
                                        {.rank = 4, .dim = {batch, t, heads, dk}},
                                        {.rank = 3, .dim = {batch, t, heads}},
                                        {.rank = 4, .dim = {batch, t, heads, dv}}},
                             .data = DATA_SIGN_RANDOM,
                             .flops = 4 * at * (k * v + chunk * k + chunk * v),
                             .bytes = at * (2 * k + 2 * k + 2 * v + 4 * k + 2 + 2 * v)};
    fill_values(config, out);
    fill_decay(config, out);
    fill_beta(config, out);
    return 0;
}

static const char *const discriminating[] = {"onehot", NULL};

const struct problem problem_kda = {
    .name = "kda",
    .summary = "Kimi Delta Attention, forward: a gated delta rule with a decay per channel",
    .arithmetic = "state in fp32 between chunks of tokens; within a chunk any operand of a product may be "
                  "rounded to bf16; sums in fp32",
    .axes = axes,
    .tensors = tensors,
    .extents = extents,
    .compute = DTYPE_BF16,
    .rounds_operands = true,
    .discriminating = discriminating,
    .half = {2, 1, 0},
    .published_atol = 0.05,
    .published_rtol = 0.05,
    .host_ns = 0.3,
    .instantiate = instantiate,
};
