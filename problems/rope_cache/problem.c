#include "problems/problem.h"

#include <math.h>
#include <stdlib.h>

static const char *const styles[] = {"halves", "pairs", NULL};
static const char *const rotated[] = {"all", "half", "quarter", "first_64", NULL};
static const char *const slots[] = {"paged", "shuffled", "contiguous", "reversed", "padded", NULL};
static const char *const positions[] = {"sequential", "random", "last", NULL};

static const struct axis axes[] = {
    {"tokens", AXIS_NUMBER, NULL, "tokens of the batch"},
    {"heads", AXIS_NUMBER, NULL, "query heads; a multiple of kv_heads"},
    {"kv_heads", AXIS_NUMBER, NULL, "key and value heads"},
    {"head_dim", AXIS_NUMBER, NULL, "length of a query, key or value"},
    {"page_size", AXIS_NUMBER, NULL, "slots of a page"},
    {"pages", AXIS_NUMBER, NULL, "pages of each cache; tokens have room"},
    {"max_position", AXIS_NUMBER, NULL, "rows of the table"},
    {"rotated", AXIS_CHOICE, rotated, "rot_dim: all of head_dim, half or a quarter of it, 64 elements"},
    {"style", AXIS_CHOICE, styles, "pairs are (i, i + rot_dim / 2) or (2i, 2i + 1)"},
    {"slots", AXIS_CHOICE, slots,
     "pages in any order, filled in order; any slots; one run; one run backwards; as paged, a quarter of "
     "the tokens -1"},
    {"positions", AXIS_CHOICE, positions, "one after another from anywhere; any; all max_position - 1"},
    {"input", AXIS_CHOICE, NULL, "how queries, keys, values and the table are drawn"},
    {0}};

static const struct tensor tensors[] = {
    {"key", DTYPE_BF16, TENSOR_INPUT, "[tokens, kv_heads, head_dim]"},
    {"value", DTYPE_BF16, TENSOR_INPUT, "[tokens, kv_heads, head_dim]"},
    {"positions", DTYPE_I64, TENSOR_INPUT, "[tokens], each below max_position"},
    {"slots", DTYPE_I64, TENSOR_INPUT, "[tokens], page * page_size + place, distinct; or -1: not stored"},
    {"cos_sin", DTYPE_F32, TENSOR_INPUT, "[max_position, rot_dim], rot_dim / 2 cosines, then as many sines"},
    {"query", DTYPE_BF16, TENSOR_INOUT, "[tokens, heads, head_dim]"},
    {"key_cache", DTYPE_BF16, TENSOR_INOUT, "[pages, page_size, kv_heads, head_dim]"},
    {"value_cache", DTYPE_BF16, TENSOR_INOUT, "[pages, page_size, kv_heads, head_dim]"},
    {0}};

static const struct argument arguments[] = {{"tokens", ARGUMENT_I64},   {"heads", ARGUMENT_I64},
                                            {"kv_heads", ARGUMENT_I64}, {"head_dim", ARGUMENT_I64},
                                            {"rot_dim", ARGUMENT_I64},  {"page_size", ARGUMENT_I64},
                                            {"pages", ARGUMENT_I64},    {"max_position", ARGUMENT_I64},
                                            {"neox", ARGUMENT_BOOL},    {0}};

enum { KEY, VALUE, POSITIONS, SLOTS, COS_SIN, QUERY, KEY_CACHE, VALUE_CACHE };

/* --- the table --- */

static int64_t rot_dim_of(const struct config *config)
{
    const int64_t dim = config_value(config, "head_dim");
    return config_chose(config, "rotated", "all")        ? dim
           : config_chose(config, "rotated", "half")     ? dim / 2
           : config_chose(config, "rotated", "first_64") ? 64
                                                         : dim / 4;
}

/* Allocates [max_position, rot_dim] integers for cos_sin, in units of `unit`: 2^-24 or 1. */
static int32_t *give_table(struct instance *out, float unit)
{
    const struct instance_tensor *table = &out->tensor[COS_SIN];
    int32_t *given = malloc((size_t)(table->dim[0] * table->dim[1]) * sizeof *given);
    out->tensor[COS_SIN].fill = (struct fill){.kind = FILL_GIVEN, .given = given, .b = unit};
    return given;
}

/* Rounds to nearest, ties to even, like lrint but without a call per element: doubles near 1.5 * 2^52 are
 * integers. */
static int32_t nearest(double x)
{
    return (int32_t)(x + 0x1.8p52 - 0x1.8p52);
}

/* Cosine and sine of a pair at position p. The next position follows by multiplication with the cosine c and
 * sine s of the pair's angle. */
struct rotation {
    double cosine, sine, c, s;
};

/* The published angles, position times 10000^(-2i / rot_dim), computed position by position by
 * multiplication. Rows are written in memory order, since a table of 131072 rows is drawn many times. */
static int draw_rotations(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t rows = out->tensor[COS_SIN].dim[0], rot = out->tensor[COS_SIN].dim[1], half = rot / 2;
    int32_t *table = give_table(out, 0x1p-24f);
    struct rotation *const rotation = calloc((size_t)half + 1, sizeof *rotation);
    (void)config;
    (void)random;
    for (int64_t i = 0; i < half && rotation; i++) {
        const double angle = pow(10000, -2.0 * (double)i / (double)rot);
        rotation[i] = (struct rotation){.cosine = 1, .c = cos(angle), .s = sin(angle)};
    }
    for (int64_t p = 0; p < rows && table && rotation; p++) {
        int32_t *const cosines = table + p * rot, *const sines = cosines + half;
        for (int64_t i = 0; i < half; i++) {
            struct rotation *const r = &rotation[i];
            const double next = r->cosine * r->c - r->sine * r->s;
            cosines[i] = nearest(r->cosine * 0x1p24);
            sines[i] = nearest(r->sine * 0x1p24);
            r->sine = r->sine * r->c + r->cosine * r->s;
            r->cosine = next;
        }
    }
    free(rotation);
    return table && rotation ? 0 : -1;
}

/* Rotates each pair of each position by a multiple of a quarter turn. */
static int draw_turns(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t rows = out->tensor[COS_SIN].dim[0], half = out->tensor[COS_SIN].dim[1] / 2;
    int32_t *table = give_table(out, 1);
    (void)config;
    if (!table)
        return -1;
    for (int64_t p = 0; p < rows; p++)
        for (int64_t i = 0; i < half; i++) {
            static const int8_t cosine[] = {1, 0, -1, 0};
            const uint64_t turns = random_below(random, 4);
            table[p * 2 * half + i] = cosine[turns];
            table[p * 2 * half + half + i] = cosine[(turns + 3) % 4];
        }
    return 0;
}

/* --- classes --- */

#define CACHES [KEY_CACHE] = {.kind = FILL_NORMAL, .b = 1}, [VALUE_CACHE] = {.kind = FILL_NORMAL, .b = 1}
#define ALL(...) [KEY] = __VA_ARGS__, [VALUE] = __VA_ARGS__, [QUERY] = __VA_ARGS__
#define NORMAL                                                                                               \
    {                                                                                                        \
        .kind = FILL_NORMAL, .b = 1                                                                          \
    }
#define INTEGERS(most)                                                                                       \
    {                                                                                                        \
        .kind = FILL_INTEGERS, .b = most, .density = 1                                                       \
    }

static const struct input_class classes[] = {
    {"normal", DATA_ANY, "as published: deviation 1, the table of base 10000", .fill = {ALL(NORMAL), CACHES},
     .adjust = draw_rotations},
    {"table", DATA_ANY, "cosines and sines are any numbers of [-2, 2): whoever computes them is wrong",
     .fill = {ALL(NORMAL), [COS_SIN] = {.kind = FILL_UNIFORM, .a = -2, .b = 2}, CACHES}},
    {"integers", DATA_EXACT, "whole numbers, also in the table: both products show, bit for bit",
     .discriminating = 1, .fill = {ALL(INTEGERS(40)), [COS_SIN] = INTEGERS(3), CACHES}},
    {"turns", DATA_EXACT, "quarter turns: results are elements, or their negatives", .discriminating = 2,
     .fill = {ALL(INTEGERS(200)), CACHES}, .adjust = draw_turns},
    {"cancel", DATA_ANY,
     "x1 = x2, c and s nearly the same: of their product's difference few digits are left",
     .fill =
         {ALL({.kind = FILL_ROWS_EQUAL, .b = 1}), [COS_SIN] = {.kind = FILL_UNIFORM, .a = 1, .b = 1.0625f},
          CACHES}},
    {"wide", DATA_ANY, "magnitudes from 2^-12 to 2^12, in the table from 2^-4 to 2^4",
     .fill = {ALL({.kind = FILL_WIDE, .a = -12, .b = 11}), [COS_SIN] = {.kind = FILL_WIDE, .a = -4, .b = 3},
              CACHES}},
    {"special", DATA_ANY, "vectors with NaN, infinities, zeros of both signs, subnormals; caches with NaN",
     .fill = {ALL({.kind = FILL_SPECIAL, .b = 1}),
              [KEY_CACHE] = {.kind = FILL_NANS, .a = 1, .b = 1, .density = 0.25f},
              [VALUE_CACHE] = {.kind = FILL_NANS, .a = 1, .b = 1, .density = 0.25f}},
     .adjust = draw_rotations},
    {0}};

/* --- slots and positions --- */

static int64_t below(struct random *random, int64_t bound)
{
    return (int64_t)random_below(random, (uint64_t)bound);
}

static void swap(int32_t *list, int64_t a, int64_t b)
{
    const int32_t kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

/* The first `count` numbers of a permutation of 0 .. all - 1, which include the last number; `room` has space
 * for all. */
static void draw_some(int32_t *room, int64_t count, int64_t all, struct random *random)
{
    for (int64_t i = 0; i < all; i++)
        room[i] = (int32_t)i;
    swap(room, 0, all - 1);
    for (int64_t i = 1; i < count; i++)
        swap(room, i, i + below(random, all - i));
    swap(room, 0, below(random, count));
}

/* Number of padding tokens: a quarter of the tokens, rounded up. Half of these are the last ones, as in a
 * padded batch. */
static int64_t padding_of(int64_t tokens)
{
    return (tokens + 3) / 4;
}

static void pad(int32_t *slot, int64_t tokens, struct random *random)
{
    const int64_t padding = padding_of(tokens), last = padding / 2;
    for (int64_t i = 0; i < last; i++)
        slot[tokens - 1 - i] = -1;
    for (int64_t left = padding - last; left > 0;) {
        int32_t *one = &slot[below(random, tokens - last)];
        left -= *one >= 0;
        *one = -1;
    }
}

/* A contiguous run begins at the first slot, ends at the last, or neither. */
static int32_t *draw_slots(const struct config *config, struct random *random)
{
    const int64_t tokens = config_value(config, "tokens"), size = config_value(config, "page_size");
    const int64_t pages = config_value(config, "pages"), spare = pages * size - tokens;
    const bool any = config_chose(config, "slots", "shuffled"),
               run = config_chose(config, "slots", "contiguous"),
               back = config_chose(config, "slots", "reversed");
    const int64_t starts[] = {0, spare, below(random, spare + 1)}, start = starts[below(random, 3)];
    int32_t *slot = malloc((size_t)tokens * sizeof *slot);
    int32_t *room = malloc((size_t)(any ? pages * size : pages) * sizeof *room);
    if (!slot || !room) {
        free(slot);
        free(room);
        return NULL;
    }
    const int64_t first =
        spare < size ? below(random, spare + 1) : below(random, size); /* slot in the first page */
    if (any)
        draw_some(room, tokens, pages * size, random);
    else if (!run && !back)
        draw_some(room, (tokens + first + size - 1) / size, pages, random);
    for (int64_t t = 0; t < tokens; t++)
        slot[t] = any    ? room[t]
                  : run  ? (int32_t)(start + t)
                  : back ? (int32_t)(start + tokens - 1 - t)
                         : (int32_t)(room[(t + first) / size] * size + (t + first) % size);
    free(room);
    if (config_chose(config, "slots", "padded"))
        pad(slot, tokens, random);
    return slot;
}

static int32_t *draw_positions(const struct config *config, struct random *random)
{
    const int64_t tokens = config_value(config, "tokens"), most = config_value(config, "max_position");
    const bool any = config_chose(config, "positions", "random"),
               last = config_chose(config, "positions", "last");
    const int64_t start = below(random, most);
    int32_t *position = malloc((size_t)tokens * sizeof *position);
    for (int64_t t = 0; position && t < tokens; t++)
        position[t] = (int32_t)(any ? below(random, most) : last ? most - 1 : (start + t) % most);
    return position;
}

/* --- instances --- */

static int measure(const struct config *config, struct random *shape_random, struct instance *out)
{
    const int64_t tokens = config_value(config, "tokens"), heads = config_value(config, "heads");
    const int64_t kv_heads = config_value(config, "kv_heads"), dim = config_value(config, "head_dim");
    const int64_t size = config_value(config, "page_size"), pages = config_value(config, "pages");
    const int64_t most = config_value(config, "max_position"), rot = rot_dim_of(config);
    const int64_t stored = config_chose(config, "slots", "padded") ? tokens - padding_of(tokens) : tokens;
    const int64_t angles = (tokens < most ? tokens : most) * rot;
    const struct instance_tensor rows = {.rank = 3, .dim = {tokens, kv_heads, dim}},
                                 list = {.rank = 1, .dim = {tokens}};
    const struct instance_tensor cache = {.rank = 4, .dim = {pages, size, kv_heads, dim}};
    (void)shape_random;
    *out = (struct instance){.extent = {tokens, heads, kv_heads, dim, rot, size, pages, most,
                                        config_chose(config, "style", "halves")},
                             .tensor = {rows,
                                        rows,
                                        list,
                                        list,
                                        {.rank = 2, .dim = {most, rot}},
                                        {.rank = 3, .dim = {tokens, heads, dim}},
                                        cache,
                                        cache},
                             .flops = 3.0 * (double)(tokens * heads + stored * kv_heads) * (double)rot,
                             .bytes = 4.0 * (double)(tokens * heads) * (double)rot +
                                      8.0 * (double)(stored * kv_heads) * (double)dim +
                                      16.0 * (double)tokens + 4.0 * (double)angles};
    return 0;
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    measure(config, shape_random, out);
    out->tensor[POSITIONS].fill = (struct fill){.given = draw_positions(config, content_random)};
    out->tensor[SLOTS].fill = (struct fill){.given = draw_slots(config, content_random)};
    return out->tensor[POSITIONS].fill.given && out->tensor[SLOTS].fill.given ? 0 : -1;
}

static int64_t rot_dim(const struct config *config, struct random *shape_random,
                       struct random *content_random)
{
    (void)shape_random;
    (void)content_random;
    return rot_dim_of(config);
}

static const struct derived derived[] = {
    {"rot_dim", DERIVED_EVERY, {"head_dim", "rotated"}, "elements of a vector that are rotated", rot_dim},
    {0}};

const struct problem problem_rope_cache = {
    .name = "rope_cache",
    .summary =
        "rotary embedding of bf16 queries, in place, and of keys, which go with values to a paged cache",
    .arithmetic = "two products and their sum in fp32, fused or not, rounded to bf16 once; neither the fp32 "
                  "table nor a product is rounded to bf16; values are copied bit for bit",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .derived = derived,
    .arithmetic_class = ARITHMETIC_F32,
    .peak = PEAK_MEMORY,
    .classes = classes,
    .half = {KEY, 0, 0},
    .published_atol = 1e-3,
    .published_rtol = 1.6e-2,
    .host_ns = 5,
    .instantiate = instantiate,
    .measure = measure,
};
