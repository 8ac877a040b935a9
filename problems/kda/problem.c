#include "problems/problem.h"

#include <math.h>

static const char *const decays[] = {"published", "long", "strong", "growth", "mixed", "slow", "still", NULL};
enum { PUBLISHED, LONG, STRONG, GROWTH, MIXED, SLOW, STILL }; /* indices into the list above */
static const char *const betas[] = {"sigmoid", "zero", "one", "mixed", NULL};
enum { SIGMOID, BETA_ZERO, BETA_ONE, BETA_MIXED }; /* indices into the list above */

static const struct axis axes[] = {
    {"batch", AXIS_NUMBER, NULL, "sequences"},
    {"t", AXIS_NUMBER, NULL, "tokens of a sequence"},
    {"heads", AXIS_NUMBER, NULL, "heads"},
    {"dk", AXIS_NUMBER, NULL, "length of a query or key"},
    {"dv", AXIS_NUMBER, NULL, "length of a value"},
    {"decay", AXIS_CHOICE, decays,
     "log decays g: N(-0.05, 0.1); just below 0, a long memory; -0.5 to -8, 64 tokens far below e^-88; above "
     "0 "
     "on average; these channel by channel; above -2^-11 or above -2^-15, and no key but the first 64 "
     "touches "
     "the second half of the channels"},
    {"beta", AXIS_CHOICE, betas, "how much of each update is made: between 0 and 1; 0; 1; all of these"},
    {"input", AXIS_CHOICE, NULL, "how q, k and v are drawn"},
    {0}};

static const struct tensor tensors[] = {{"q", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads, dk]"},
                                        {"k", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads, dk]"},
                                        {"v", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads, dv]"},
                                        {"g", DTYPE_F32, TENSOR_INPUT, "[batch, t, heads, dk]"},
                                        {"beta", DTYPE_BF16, TENSOR_INPUT, "[batch, t, heads]"},
                                        {"o", DTYPE_BF16, TENSOR_OUTPUT, "[batch, t, heads, dv]"},
                                        {0}};

static const struct argument arguments[] = {{"batch", ARGUMENT_I64}, {"t", ARGUMENT_I64},
                                            {"heads", ARGUMENT_I64}, {"dk", ARGUMENT_I64},
                                            {"dv", ARGUMENT_I64},    {0}};

enum { Q, K, V, G, BETA, O };

/* Growth over the whole sequence is at most e^10 in any channel. Decays within 2^-11 of 0 vanish if the state
 * is rounded to TF32 at every token; decays within 2^-15 vanish if it is rounded to bf16 every 128 tokens. */
static struct fill decay_of(const struct config *config)
{
    const float most = (float)fmin(0.05, 10 / (double)config_value(config, "t"));
    const struct fill fills[] = {[PUBLISHED] = {.kind = FILL_NORMAL, .a = -0.05f, .b = 0.1f},
                                 [LONG] = {.kind = FILL_UNIFORM, .a = -1e-3f, .b = 0},
                                 [STRONG] = {.kind = FILL_UNIFORM, .a = -8, .b = -0.5f},
                                 [GROWTH] = {.kind = FILL_UNIFORM, .a = -most / 3, .b = most},
                                 [MIXED] = {.kind = FILL_CHANNELS, .a = most},
                                 [SLOW] = {.kind = FILL_UNIFORM, .a = -0x1p-11f, .b = 0},
                                 [STILL] = {.kind = FILL_UNIFORM, .a = -0x1p-15f, .b = 0}};
    return fills[config_value(config, "decay")];
}

/* sigmoid(N(0, 1)) has deviation 0.21; uniform numbers of the same deviation replace it. */
static struct fill beta_of(const struct config *config)
{
    static const struct fill fills[] = {[SIGMOID] = {.kind = FILL_UNIFORM, .a = 0.14f, .b = 0.86f},
                                        [BETA_ZERO] = {.kind = FILL_CONSTANT, .a = 0},
                                        [BETA_ONE] = {.kind = FILL_CONSTANT, .a = 1},
                                        [BETA_MIXED] = {.kind = FILL_FRACTIONS}};
    return fills[config_value(config, "beta")];
}

/* --- q, k, v ---
 *
 * |k|^2 stays below 2 in every class, so that the update never grows the state: as published up to 128
 * channels, and 1.28 on average beyond. Full or partial updates forget within about dk / beta tokens all
 * that the keys reach, whatever g is. Classes that test the decay therefore leave half of the channels alone.
 *
 * Unit keys do not repeat within 32 tokens, so at most 4 of 128 tokens share a key. A kernel may round powers
 * of A. If m tokens of a chunk share a key, these have entries up to binomial(m - 2, m / 2 - 1), and their
 * sums cancel to at most 1. */

static int early_keys(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t decay = config_value(config, "decay");
    const int64_t t = out->extent[1], token = out->extent[2] * out->extent[3];
    struct fill *k = &out->tensor[K].fill;
    (void)random;
    if (decay == SLOW || decay == STILL)
        *k = (struct fill){.kind = FILL_EARLY, .b = k->b, .block = t * token, .early = 64 * token};
    return 0;
}

static int short_keys(const struct config *config, struct random *random, struct instance *out)
{
    out->tensor[K].fill.b = (float)(0.1 * fmin(1, sqrt(128 / (double)out->extent[3])));
    return early_keys(config, random, out);
}

static int normalize(const struct config *config, struct random *random, struct instance *out)
{
    const double dk = (double)out->extent[3];
    out->tensor[Q].fill.b = out->tensor[K].fill.b = (float)(1 / sqrt(dk));
    return early_keys(config, random, out);
}

static int turn_keys(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    (void)random;
    out->tensor[K].fill.block = out->extent[2] * out->extent[3];
    return 0;
}

/* Every value that an honest kernel forms is an integer, or with dk^-1/2 = 1/8 a multiple of 1/8. Values that
 * it may round to bf16 have at most 8 bits, for any chunks of at most 128 tokens and any inverse. With g = 0
 * decays are 1. A state is the last v written under its key, |v| < 128, and v - S^T k is below 256. Scores
 * are 0 or a power of two. A is the strict lower triangle of [k_i = k_j] beta_i. At most 4 of the m tokens of
 * a chunk share a key, since no key repeats within 32 tokens. So a power A^n has entries of at most 2, and
 * those of (I + A)^-1 are 0, 1 and -1. Sums of dk terms are below 64 * 8 * 127 < 2^16, and most have more
 * bits than bf16, TF32 or fp16 hold. */
static int integers(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t beta = config_value(config, "beta");
    if (beta != BETA_ZERO && beta != BETA_ONE)
        out->tensor[BETA].fill = (struct fill){.kind = FILL_MOSTLY, .a = 1, .b = 1, .density = 0.25f};
    if (out->extent[3] == 64)
        out->data = DATA_EXACT;
    return turn_keys(config, random, out);
}

static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published: deviation 0.1",
     .fill = {[Q] = {.kind = FILL_NORMAL, .b = 0.1f},
              [K] = {.kind = FILL_NORMAL},
              [V] = {.kind = FILL_NORMAL, .b = 0.1f}},
     .adjust = short_keys},
    {"normalized", DATA_SIGN_RANDOM, "|q| = |k| = 1, v of deviation 1: a state as large as v",
     .fill = {[Q] = {.kind = FILL_SIGNS}, [K] = {.kind = FILL_SIGNS}, [V] = {.kind = FILL_NORMAL, .b = 1}},
     .adjust = normalize},
    {"onehot", DATA_SIGN_RANDOM, "unit vectors as q and k, small integers as v: few tokens in every output",
     .discriminating = 1,
     .fill = {[Q] = {.kind = FILL_ONEHOT, .b = 1},
              [K] = {.kind = FILL_TURNS, .b = 1},
              [V] = {.kind = FILL_INTEGERS, .b = 8, .density = 1}},
     .adjust = turn_keys},
    {"wide", DATA_SIGN_RANDOM, "magnitudes of q and v from 2^-8 to 2^3",
     .fill = {[Q] = {.kind = FILL_WIDE, .a = -8, .b = 2},
              [K] = {.kind = FILL_NORMAL},
              [V] = {.kind = FILL_WIDE, .a = -8, .b = 2}},
     .adjust = short_keys},
    {"integers", DATA_SIGN_RANDOM,
     "unit keys, powers of two, integers, g = 0, beta 0 or 1: exact where dk = 64",
     .fill = {[Q] = {.kind = FILL_POWERS, .a = 0, .b = 3},
              [K] = {.kind = FILL_TURNS, .b = 1},
              [V] = {.kind = FILL_INTEGERS, .b = 127, .density = 1},
              [G] = {.kind = FILL_CONSTANT, .a = 0}},
     .adjust = integers},
    {0}};

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
                             .flops = 4 * at * (k * v + chunk * k + chunk * v),
                             .bytes = at * (2 * k + 2 * k + 2 * v + 4 * k + 2 + 2 * v)};
    out->tensor[G].fill = decay_of(config);
    out->tensor[BETA].fill = beta_of(config);
    return 0;
}

const struct problem problem_kda = {
    .name = "kda",
    .summary = "Kimi Delta Attention, forward: a gated delta rule with a decay per channel",
    .arithmetic =
        "state in fp32 between chunks of at most 128 tokens; within a chunk any operand of a product "
        "may be rounded to bf16; sums in fp32",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .arithmetic_class = ARITHMETIC_BF16_OPERANDS,
    .peak = PEAK_BF16,
    .classes = classes,
    .accumulation = {"t", {{"decay", "still"}, {"beta", "sigmoid"}, {"input", "normal"}}},
    .half = {2, 1, 0},
    .published_atol = 0.05,
    .published_rtol = 0.05,
    .host_ns = 0.3,
    .instantiate = instantiate,
};
