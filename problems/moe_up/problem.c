#include "problems/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const routings[] = {"even", "zipf", "empty", "one", "single", "odd", NULL};

static const struct axis axes[] = {
    {"tokens", AXIS_NUMBER, NULL, "rows of hidden and out, sorted by expert"},
    {"hidden_dim", AXIS_NUMBER, NULL, "length of every dot product"},
    {"inter_dim", AXIS_NUMBER, NULL, "columns of each weight and of out"},
    {"experts", AXIS_NUMBER, NULL, "pairs of weights"},
    {"routing", AXIS_CHOICE, routings,
     "rows of the experts: even; by a power law; first, last and some others without rows; all to one; "
     "most with one row; boundaries anywhere"},
    {"input", AXIS_CHOICE, NULL, "how hidden and the weights are drawn"},
    {0}};

static const struct tensor tensors[] = {
    {"hidden", DTYPE_BF16, TENSOR_INPUT, "[tokens, hidden_dim]"},
    {"expert_offsets", DTYPE_I32, TENSOR_INPUT, "[experts + 1]"},
    {"w_gate", DTYPE_BF16, TENSOR_INPUT, "[experts, hidden_dim, inter_dim]"},
    {"w_up", DTYPE_BF16, TENSOR_INPUT, "[experts, hidden_dim, inter_dim]"},
    {"out", DTYPE_BF16, TENSOR_OUTPUT, "[tokens, inter_dim]"},
    {0}};

static const struct argument arguments[] = {{"tokens", ARGUMENT_I64},
                                            {"hidden_dim", ARGUMENT_I64},
                                            {"inter_dim", ARGUMENT_I64},
                                            {"experts", ARGUMENT_I64},
                                            {0}};

enum { HIDDEN, OFFSETS, W_GATE, W_UP, OUT };

/* --- routing --- */

static int64_t below(struct random *random, int64_t bound)
{
    return (int64_t)random_below(random, (uint64_t)bound);
}

/* Assigns rows one by one to experts by a power law: expert i has weight 1 / (i + 1), in a random order of
 * the experts. */
static void route_zipf(int64_t tokens, int64_t experts, int64_t *rows, struct random *random)
{
    double total = 0;
    int64_t given = 0;
    for (int64_t e = 0; e < experts; e++)
        total += 1 / (double)(e + 1);
    for (int64_t e = 0; e < experts; e++)
        given += rows[e] = (int64_t)((double)tokens / (double)(e + 1) / total);
    rows[0] += tokens - given;
    for (int64_t e = experts - 1; e > 0; e--) {
        const int64_t other = below(random, e + 1), swapped = rows[e];
        rows[e] = rows[other];
        rows[other] = swapped;
    }
}

/* Random boundaries: the rows between cuts drawn at random. */
static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void route_odd(int64_t tokens, int64_t experts, int64_t *rows, struct random *random)
{
    for (int64_t e = 0; e + 1 < experts; e++)
        rows[e] = below(random, tokens + 1);
    rows[experts - 1] = tokens;
    qsort(rows, (size_t)experts, sizeof *rows, ascending);
    for (int64_t e = experts - 1; e > 0; e--)
        rows[e] -= rows[e - 1];
}

/* Every other expert or fewer gets rows; never the first or the last, if there is another. */
static void route_empty(int64_t tokens, int64_t experts, int64_t *rows, struct random *random)
{
    const int64_t inner = experts > 2 ? experts - 2 : 1, first = experts > 2 ? 1 : 0;
    const int64_t used = 1 + inner / 3;
    for (int64_t i = 0; i < used; i++)
        rows[first + i * inner / used] = tokens / used + (i == 0 ? tokens % used : 0);
    if (experts == 2 && below(random, 2)) {
        rows[1] = rows[0];
        rows[0] = 0;
    }
}

/* One row each for as many experts as possible; the remaining rows go to one of them. */
static void route_single(int64_t tokens, int64_t experts, int64_t *rows, struct random *random)
{
    const int64_t single = tokens < experts ? tokens : experts;
    for (int64_t i = 0; i < single; i++)
        rows[i * experts / single] = 1;
    rows[below(random, single) * experts / single] += tokens - single;
}

static void route(const struct config *config, int64_t tokens, int64_t experts, int64_t *rows,
                  struct random *random)
{
    if (config_chose(config, "routing", "zipf"))
        route_zipf(tokens, experts, rows, random);
    else if (config_chose(config, "routing", "empty"))
        route_empty(tokens, experts, rows, random);
    else if (config_chose(config, "routing", "one"))
        rows[below(random, experts)] = tokens;
    else if (config_chose(config, "routing", "single"))
        route_single(tokens, experts, rows, random);
    else if (config_chose(config, "routing", "odd"))
        route_odd(tokens, experts, rows, random);
    else
        for (int64_t e = 0; e < experts; e++)
            rows[e] = (e + 1) * tokens / experts - e * tokens / experts;
}

/* Row count of every expert: the first draw of an input draw. NULL when out of memory. */
static int64_t *draw_rows(const struct config *config, int64_t tokens, int64_t experts, struct random *random)
{
    int64_t *rows = calloc((size_t)experts, sizeof *rows);
    if (rows)
        route(config, tokens, experts, rows, random);
    return rows;
}

/* Draws expert_offsets; NULL when out of memory. */
static int32_t *draw_offsets(const struct config *config, int64_t tokens, int64_t experts,
                             struct random *random)
{
    int64_t *rows = draw_rows(config, tokens, experts, random);
    int32_t *offsets = malloc((size_t)(experts + 1) * sizeof *offsets);
    if (rows && offsets) {
        offsets[0] = 0;
        for (int64_t e = 0; e < experts; e++)
            offsets[e + 1] = offsets[e] + (int32_t)rows[e];
    } else {
        free(offsets);
        offsets = NULL;
    }
    free(rows);
    return offsets;
}

/* The largest row count of an expert or, with `least`, the smallest. */
static int64_t extreme_rows(const struct config *config, bool least, struct random *random)
{
    const int64_t experts = config_value(config, "experts");
    int64_t *rows = draw_rows(config, config_value(config, "tokens"), experts, random);
    int64_t extreme = rows ? rows[0] : 0;
    for (int64_t e = 1; rows && e < experts; e++)
        if (least ? rows[e] < extreme : rows[e] > extreme)
            extreme = rows[e];
    free(rows);
    return extreme;
}

static int64_t most_rows(const struct config *config, struct random *shape_random,
                         struct random *content_random)
{
    (void)shape_random;
    return extreme_rows(config, false, content_random);
}

static int64_t least_rows(const struct config *config, struct random *shape_random,
                          struct random *content_random)
{
    (void)shape_random;
    return extreme_rows(config, true, content_random);
}

static const struct derived derived[] = {
    {"most_rows",
     DERIVED_GREATEST,
     {"tokens", "experts", "routing"},
     "rows of the expert that has the most, in either of the two contents that are run",
     most_rows},
    {"least_rows",
     DERIVED_LEAST,
     {"tokens", "experts", "routing"},
     "rows of the expert that has the fewest, in either of the two contents that are run",
     least_rows},
    {0}};

/* --- values --- */

/* Column j of expert e of a weight is row e * inter_dim + j of the operand. */
static struct operand weight_operand(struct fill *fill, int64_t hidden, int64_t inter, int64_t experts)
{
    return (struct operand){fill, experts * inter, inter, hidden * inter, 1, inter};
}

typedef void draw_product(struct operand a, struct operand b, int64_t k, struct random *random);

static int draw_products(struct instance *out, draw_product *draw, struct random *random)
{
    const int64_t tokens = out->extent[0], hidden = out->extent[1];
    const int64_t inter = out->extent[2], experts = out->extent[3];
    const struct operand x = product_operand(&out->tensor[HIDDEN].fill, tokens, hidden, false);
    draw(x, weight_operand(&out->tensor[W_GATE].fill, hidden, inter, experts), hidden, random);
    draw(x, weight_operand(&out->tensor[W_UP].fill, hidden, inter, experts), hidden, random);
    return 0;
}

/* Gate and up sums are integers. silu of the gate is not exact, but a term of up counts in full wherever the
 * gate is positive. */
static int integers(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    return draw_products(out, product_integers, random);
}

static int needles(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    return draw_products(out, product_needles, random);
}

/* Gates of deviation 40 for any length. */
static int widen_gates(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    (void)random;
    out->tensor[W_GATE].fill.b = (float)(40 / sqrt((double)out->extent[1]));
    return 0;
}

/* Gates and ups on a grid of 1/32 with deviation 1 to 4: nearly all are below 8, where bf16 represents them.
 * Only silu and the output round, and silu's argument is not always an integer. */
static int thin(const struct config *config, struct random *random, struct instance *out)
{
    const double hidden = (double)out->extent[1];
    struct fill *gate = &out->tensor[W_GATE].fill;
    (void)config;
    (void)random;
    *gate = (struct fill){.kind = FILL_INTEGERS, .b = hidden <= 16 ? 3 : 1, .density = 1};
    if (hidden > 64)
        gate->density = (float)(64 / hidden);
    out->tensor[W_UP].fill = *gate;
    return 0;
}

/* Gates and ups of deviation 2. */
static int scale_weights(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    (void)random;
    out->tensor[W_GATE].fill.b = out->tensor[W_UP].fill.b = (float)(0x1p-15 / sqrt((double)out->extent[1]));
    return 0;
}

#define NORMAL(deviation)                                                                                    \
    {                                                                                                        \
        .kind = FILL_NORMAL, .b = deviation                                                                  \
    }
#define POSITIVE                                                                                             \
    {                                                                                                        \
        .kind = FILL_UNIFORM, .a = 0, .b = 0.1f                                                              \
    }
#define AWAY_FROM_ZERO                                                                                       \
    {                                                                                                        \
        .kind = FILL_UNIFORM, .a = 0.05f, .b = 0.2f                                                          \
    }
#define WIDE                                                                                                 \
    {                                                                                                        \
        .kind = FILL_WIDE, .a = -8, .b = 2                                                                   \
    }

/* Terms of `normal`, `wide`, `gates` and `scaled` are products of independent factors with symmetric signs:
 * DATA_SIGN_RANDOM. The terms of `uniform` are all positive, those of `cancel` come in pairs: DATA_ANY. */
static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published: deviations 0.1 and 0.02",
     .fill = {[HIDDEN] = NORMAL(0.1f), [W_GATE] = NORMAL(0.02f), [W_UP] = NORMAL(0.02f)}},
    {"integers", DATA_EXACT,
     "whole numbers whose sums every admitted arithmetic holds: a dropped or doubled term shows",
     .discriminating = 1, .adjust = integers},
    {"needle", DATA_EXACT, "the same with large terms at the last of hidden_dim and at tile edges",
     .discriminating = 2, .adjust = needles},
    {"uniform", DATA_ANY, "terms of one sign: what an accumulator loses adds up",
     .fill = {[HIDDEN] = POSITIVE, [W_GATE] = POSITIVE, [W_UP] = POSITIVE}},
    {"wide", DATA_SIGN_RANDOM, "magnitudes from 2^-8 to 2^3",
     .fill = {[HIDDEN] = WIDE, [W_GATE] = WIDE, [W_UP] = WIDE}},
    {"cancel", DATA_ANY, "pairs of terms that nearly cancel",
     .fill = {[HIDDEN] = {.kind = FILL_CANCEL, .b = 1}, [W_GATE] = AWAY_FROM_ZERO, [W_UP] = AWAY_FROM_ZERO}},
    {"gates", DATA_SIGN_RANDOM, "silu far out on both sides",
     .fill = {[HIDDEN] = NORMAL(1), [W_GATE] = NORMAL(0), [W_UP] = NORMAL(0.02f)}, .adjust = widen_gates},
    {"grid", DATA_EXACT, "gates and ups that bf16 holds, multiples of 1/32: silu itself shows",
     .fill = {[HIDDEN] = {.kind = FILL_POWERS, .a = -5, .b = 0}}, .adjust = thin},
    {"scaled", DATA_SIGN_RANDOM, "hidden beyond fp16's range, weights below it",
     .fill = {[HIDDEN] = NORMAL(0x1p16f), [W_GATE] = NORMAL(0), [W_UP] = NORMAL(0)}, .adjust = scale_weights},
    {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t tokens = config_value(config, "tokens"), hidden = config_value(config, "hidden_dim");
    const int64_t inter = config_value(config, "inter_dim"), experts = config_value(config, "experts");
    const double dt = (double)tokens, dh = (double)hidden, di = (double)inter, de = (double)experts;

    (void)shape_random;
    *out = (struct instance){.extent = {tokens, hidden, inter, experts},
                             .tensor = {{.rank = 2, .dim = {tokens, hidden}},
                                        {.rank = 1, .dim = {experts + 1}},
                                        {.rank = 3, .dim = {experts, hidden, inter}},
                                        {.rank = 3, .dim = {experts, hidden, inter}},
                                        {.rank = 2, .dim = {tokens, inter}}},
                             .flops = 4 * dt * dh * di,
                             .bytes = 2 * dt * dh + 4 * de * dh * di + 2 * dt * di};
    int32_t *offsets = draw_offsets(config, tokens, experts, content_random);
    if (!offsets)
        return -1;
    out->tensor[OFFSETS].fill = (struct fill){.kind = FILL_GIVEN, .given = offsets};
    return 0;
}

const struct problem problem_moe_up = {
    .name = "moe_up",
    .summary = "mixture-of-experts up-projection with SwiGLU, rows sorted by expert",
    .arithmetic = "products and sums in fp32 or in the 16-bit MMA class of the GPU in hand; gate, up and "
                  "silu(gate) may each be rounded to bf16; fast exponential or tanh in silu",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .derived = derived,
    .arithmetic_class = ARITHMETIC_MMA16,
    .peak = PEAK_BF16,
    .classes = classes,
    .half = {0, 1, 0},
    .published_atol = 0.02,
    .published_rtol = 0.02,
    .host_ns = 1.4,
    .instantiate = instantiate,
};
