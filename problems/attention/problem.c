#include "problems/problem.h"

#include <math.h>
#include <stdlib.h>

static const char *const lengths[] = {"equal", "ragged", "one", "empty", NULL};
enum { EQUAL, RAGGED, ONE, EMPTY }; /* indices into the list above */
/* The first choice is used where drawing asks how long a sequence may be, since it has the least work. */
static const char *const kvs[] = {"few", "same", "prefix", "cross", NULL};
enum { FEW, SAME, PREFIX, CROSS };
static const char *const scales[] = {"root", "inverse", "one", NULL};

static const struct axis axes[] = {
    {"batch", AXIS_NUMBER, NULL, "sequences"},
    {"kv_heads", AXIS_NUMBER, NULL, "key and value heads"},
    {"group", AXIS_NUMBER, NULL, "query heads that share a key and value head: heads = group kv_heads"},
    {"head_dim", AXIS_NUMBER, NULL, "length of a query, key or value"},
    {"max_len", AXIS_NUMBER, NULL, "tokens of the longest sequence"},
    {"causal", AXIS_NUMBER, NULL, "1: query i of lq sees keys up to i + lk - lq; 0: all"},
    {"kv", AXIS_CHOICE, kvs,
     "keys of a sequence: all cached but those of 1 to 16 queries; as many as queries; also a prefix that "
     "was cached; any "
     "number (causal: not below that of queries)"},
    {"lengths", AXIS_CHOICE, lengths,
     "the others: all equal; ragged; one token; ragged, half of them without queries"},
    {"scale", AXIS_CHOICE, scales, "of scores: 1/sqrt(head_dim); 1/head_dim; 1"},
    {"input", AXIS_CHOICE, NULL, "how queries, keys and values are drawn"},
    {0}};

static const struct tensor tensors[] = {{"q", DTYPE_BF16, TENSOR_INPUT, "[total_q, heads, head_dim]"},
                                        {"k", DTYPE_BF16, TENSOR_INPUT, "[total_kv, kv_heads, head_dim]"},
                                        {"v", DTYPE_BF16, TENSOR_INPUT, "[total_kv, kv_heads, head_dim]"},
                                        {"cu_seqlens_q", DTYPE_I32, TENSOR_INPUT, "[batch + 1]"},
                                        {"cu_seqlens_kv", DTYPE_I32, TENSOR_INPUT, "[batch + 1]"},
                                        {"out", DTYPE_BF16, TENSOR_OUTPUT, "[total_q, heads, head_dim]"},
                                        {"lse", DTYPE_F32, TENSOR_OUTPUT, "[total_q, heads]"},
                                        {0}};

static const struct argument arguments[] = {
    {"batch", ARGUMENT_I64},    {"heads", ARGUMENT_I64},   {"kv_heads", ARGUMENT_I64},
    {"head_dim", ARGUMENT_I64}, {"total_q", ARGUMENT_I64}, {"total_kv", ARGUMENT_I64},
    {"scale", ARGUMENT_F32},    {"causal", ARGUMENT_BOOL}, {0}};

enum { Q, K, V, CU_Q, CU_KV, OUT, LSE };

/* Numbers of queries and keys of a sequence. */
struct sequence {
    int64_t q, kv;
};

/* Working data of `instantiate`. */
struct tokens {
    int64_t batch, kv_heads, heads, dim, max_len, kv, lengths;
    bool causal;
    double scale;
    struct sequence total;
    double pairs; /* pairs of a query and a visible key, over all sequences */
    int64_t shortest, cached, idle;
    struct sequence sequence[64]; /* the maximum of batch */
};

static int64_t between(struct random *random, int64_t low, int64_t high)
{
    return high <= low ? low : low + (int64_t)random_below(random, (uint64_t)(high - low + 1));
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A number from 1 to `most`. The underlying random number does not depend on `most`, so a longer max_len
 * makes no sequence shorter. */
static int64_t draw_up_to(int64_t most, struct random *random)
{
    return 1 + ((int64_t)random_below(random, (uint64_t)1 << 20) * most >> 20);
}

/* Draws sequence b before the permutation; must be called in order of b. The first sequence has max_len
 * tokens, of queries or of keys. */
static struct sequence draw_sequence(const struct tokens *t, int64_t b, struct random *random)
{
    const int64_t ragged = draw_up_to(t->max_len, random);
    const int64_t length = b == 0 ? t->max_len : t->lengths == ONE ? 1 : ragged;
    const int64_t other = draw_up_to(t->kv == CROSS ? t->max_len
                                     : t->kv == FEW ? least(length, 16)
                                                    : length,
                                     random);
    const bool idle = random_below(random, 2), bare = random_below(random, 2);
    struct sequence s = {length, length};
    if (b > 0 && t->lengths == EQUAL)
        return t->sequence[0];
    if (t->kv == PREFIX || t->kv == FEW)
        s.q = other;
    if (t->kv == CROSS)
        s.kv = other;
    if (t->causal && s.kv < s.q)
        s = (struct sequence){s.kv, s.q};
    if (b > 0 && t->lengths == EMPTY && idle)
        s = (struct sequence){0, t->kv == SAME || bare ? 0 : s.kv};
    return s;
}

static double scale_of(const struct config *config)
{
    const double dim = (double)config_value(config, "head_dim");
    const double scale = config_chose(config, "scale", "one")       ? 1
                         : config_chose(config, "scale", "inverse") ? 1 / dim
                                                                    : 1 / sqrt(dim);
    return (float)scale;
}

/* Draws the lengths from the shape's stream. */
static struct tokens draw_tokens(const struct config *config, struct random *shape_random)
{
    struct tokens t = {.batch = config_value(config, "batch"),
                       .kv_heads = config_value(config, "kv_heads"),
                       .dim = config_value(config, "head_dim"),
                       .max_len = config_value(config, "max_len"),
                       .kv = config_value(config, "kv"),
                       .lengths = config_value(config, "lengths"),
                       .causal = config_value(config, "causal") != 0,
                       .scale = scale_of(config)};
    t.heads = t.kv_heads * config_value(config, "group");
    t.shortest = t.max_len;
    for (int64_t b = 0; b < t.batch; b++) {
        const struct sequence s = t.sequence[b] = draw_sequence(&t, b, shape_random);
        const double hidden = t.causal ? (double)s.q * (double)(s.q - 1) / 2 : 0;
        t.total.q += s.q;
        t.total.kv += s.kv;
        t.pairs += (double)s.q * (double)s.kv - hidden;
        t.idle += s.q == 0;
        t.shortest = s.q > 0 && s.kv < t.shortest ? s.kv : t.shortest;
        t.cached = s.q > 0 && s.kv - s.q > t.cached ? s.kv - s.q : t.cached;
    }
    return t;
}

/* --- values --- */

/* For a row of queries: the first key of its sequence, and the number of visible keys. */
struct view {
    int64_t first, keys;
};

/* Reads the sequences that `instantiate` drew. */
static struct view view_of(const struct instance *instance, bool causal, int64_t b, int64_t query)
{
    const int32_t *q = instance->tensor[CU_Q].fill.given, *kv = instance->tensor[CU_KV].fill.given;
    const struct view view = {kv[b], kv[b + 1] - kv[b] - (causal ? q[b + 1] - 1 - query : 0)};
    return view;
}

/* A key at a multiple of a power of two, where a split or a tile is likely to begin or end. */
static int64_t edge_key(int64_t keys, struct random *random)
{
    uint64_t doublings = 0;
    while ((int64_t)16 << (doublings + 1) <= keys)
        doublings++;
    const int64_t tile = (int64_t)16 << random_below(random, doublings + 1);
    const int64_t key = between(random, 0, keys / tile) * tile - (int64_t)random_below(random, 2);
    return key < 0 ? 0 : least(key, keys - 1);
}

/* Keys and values are +-3. Every query is c times one visible key, where c is the least power of two with c
 * scale >= 1/2. That key scores 9 c scale D. A key that differs in h places scores 18 c scale h less, at
 * least 9 h: from h = 12 on its weight is 0 in fp32. Of 2^17 random keys one is closer only once in 10^8. So
 * every admitted arithmetic returns the key's value row bit for bit. 3 lies between its bf16 neighbours and
 * is no power of two. The chosen key is the last visible one, the first, at the edge of a tile, or any. */
static int gather_queries(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t heads = out->extent[1], kv_heads = out->extent[2], dim = out->extent[3];
    const int64_t rows = out->extent[4] * heads;
    const int32_t *cu_q = out->tensor[CU_Q].fill.given;
    int64_t *start = malloc((size_t)rows * sizeof *start), b = 0;
    if (!start)
        return -1;
    for (int64_t row = 0; row < rows; row++) {
        while (cu_q[b + 1] <= row / heads)
            b++;
        const struct view view = view_of(out, config_value(config, "causal") != 0, b, row / heads);
        const int64_t choices[] = {view.keys - 1, 0, edge_key(view.keys, random),
                                   between(random, 0, view.keys - 1)};
        const int64_t key = view.first + choices[random_below(random, 4)];
        start[row] = (key * kv_heads + row % heads / (heads / kv_heads)) * dim;
    }
    out->tensor[Q].fill.start = start;
    out->tensor[Q].fill.starts = rows;
    out->tensor[Q].fill.b = (float)exp2(ceil(log2(0.5 / out->scalar[6])));
    return 0;
}

/* All queries are zero, so all scores are 0, and the output is the plain mean of the values, which are 0 or
 * +-1. The sum of n such numbers is about sqrt(n), so a single value has more effect if few of a column are
 * nonzero: about 400, or 1 in 128. Some keys are always nonzero: the last ones of a sequence, the first, and
 * edges of tiles. lse is log n, which counts the keys. */
static int thin_values(const struct config *config, struct random *random, struct instance *out)
{
    const int64_t batch = out->extent[0], kv_heads = out->extent[2], dim = out->extent[3];
    const int32_t *cu_kv = out->tensor[CU_KV].fill.given;
    struct fill *v = &out->tensor[V].fill;
    const float density = 400 / (float)config_value(config, "max_len");
    v->density = density > 0.9f ? 0.9f : density > 0x1p-7f ? density : 0x1p-7f;
    for (int i = 0; i < FILL_MAX_PLANTED; i++) {
        const int64_t b = between(random, 0, batch - 1), keys = cu_kv[b + 1] - cu_kv[b];
        const int64_t head = i ? between(random, 0, kv_heads - 1) : kv_heads - 1;
        const int64_t d = i ? between(random, 0, dim - 1) : dim - 1;
        const int64_t key = keys == 0 || (i >= 4 && i < 6) ? 0 : i < 4 ? keys - 1 : edge_key(keys, random);
        if (keys > 0)
            v->planted[v->planted_count++] =
                (struct fill_planted){((cu_kv[b] + key) * kv_heads + head) * dim + d, i % 2 ? -8.0f : 8.0f};
    }
    return 0;
}

/* Keys that grow with the token's index over all sequences. */
static int sort_keys(const struct config *config, struct random *random, struct instance *out)
{
    (void)config;
    (void)random;
    out->tensor[K].fill.inner = instance_tensor_count(&out->tensor[K]);
    return 0;
}

#define ALL(...) [Q] = __VA_ARGS__, [K] = __VA_ARGS__, [V] = __VA_ARGS__
#define NORMAL(deviation)                                                                                    \
    {                                                                                                        \
        .kind = FILL_NORMAL, .b = deviation                                                                  \
    }
#define WIDE                                                                                                 \
    {                                                                                                        \
        .kind = FILL_WIDE, .a = -8, .b = 3                                                                   \
    }
#define THREE_LEVELS                                                                                         \
    {                                                                                                        \
        .kind = FILL_LEVELS, .a = -1, .b = 3                                                                 \
    }
#define ONE_TO_TWO                                                                                           \
    {                                                                                                        \
        .kind = FILL_UNIFORM, .a = 1, .b = 2                                                                 \
    }

static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published: deviation 1", .fill = {ALL(NORMAL(1))}},
    {"onehot", DATA_EXACT, "every query finds one key and returns its value, bit for bit",
     .discriminating = 2,
     .fill = {[Q] = {.kind = FILL_GATHER, .source = K},
              [K] = {.kind = FILL_SIGNS, .b = 3},
              [V] = {.kind = FILL_SIGNS, .b = 3}},
     .adjust = gather_queries},
    {"uniform", DATA_EXACT,
     "zero queries: the mean of values 0 and +-1, and log n, where one dropped or doubled key shows",
     .discriminating = 1,
     .fill = {[Q] = {.kind = FILL_CONSTANT, .a = 0}, [K] = NORMAL(1), [V] = {.kind = FILL_INTEGERS, .b = 1}},
     .adjust = thin_values},
    {"large", DATA_SIGN_RANDOM, "deviation 4: a few keys have all the weight, and a running maximum moves",
     .fill = {ALL(NORMAL(4))}},
    {"rising", DATA_ANY, "keys grow and queries are positive: a running maximum moves at every tile",
     .fill = {[Q] = {.kind = FILL_UNIFORM, .a = 0.5f, .b = 1},
              [K] = {.kind = FILL_SORTED, .a = -4, .b = 4},
              [V] = NORMAL(1)},
     .adjust = sort_keys},
    {"wide", DATA_SIGN_RANDOM, "magnitudes from 2^-8 to 2^4", .fill = {ALL(WIDE)}},
    {"ties", DATA_ANY, "equal scores, whose roundings agree", .fill = {ALL(THREE_LEVELS)}},
    {"positive", DATA_SIGN_RANDOM, "keys and values in [1, 2): nothing cancels, what sums lose accumulates",
     .fill = {[Q] = NORMAL(1), [K] = ONE_TO_TWO, [V] = ONE_TO_TWO}},
    {0}};

/* --- instances --- */

static void set_shapes(const struct tokens *t, struct instance *out)
{
    const double q = (double)(t->heads * t->dim) * (double)t->total.q;
    const double kv = (double)(t->kv_heads * t->dim) * (double)t->total.kv;
    *out = (struct instance){
        .extent = {t->batch, t->heads, t->kv_heads, t->dim, t->total.q, t->total.kv, 0, t->causal},
        .scalar = {[6] = t->scale},
        .tensor = {{.rank = 3, .dim = {t->total.q, t->heads, t->dim}},
                   {.rank = 3, .dim = {t->total.kv, t->kv_heads, t->dim}},
                   {.rank = 3, .dim = {t->total.kv, t->kv_heads, t->dim}},
                   {.rank = 1, .dim = {t->batch + 1}},
                   {.rank = 1, .dim = {t->batch + 1}},
                   {.rank = 3, .dim = {t->total.q, t->heads, t->dim}},
                   {.rank = 2, .dim = {t->total.q, t->heads}}},
        .flops = 4.0 * (double)(t->heads * t->dim) * t->pairs,
        .bytes = 4.0 * q + 4.0 * kv + 4.0 * (double)t->heads * (double)t->total.q};
}

/* The draw decides which sequence has which lengths, including the longest. */
static void permute_sequences(struct tokens *t, struct random *content_random)
{
    for (int64_t b = t->batch - 1; b > 0; b--) {
        const int64_t other = (int64_t)random_below(content_random, (uint64_t)b + 1);
        const struct sequence s = t->sequence[b];
        t->sequence[b] = t->sequence[other];
        t->sequence[other] = s;
    }
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    struct tokens t = draw_tokens(config, shape_random);
    int32_t *q = malloc((size_t)(t.batch + 1) * sizeof *q), *kv = malloc((size_t)(t.batch + 1) * sizeof *kv);
    permute_sequences(&t, content_random);
    set_shapes(&t, out);
    out->tensor[CU_Q].fill.given = q;
    out->tensor[CU_KV].fill.given = kv;
    if (!q || !kv)
        return -1;
    q[0] = kv[0] = 0;
    for (int64_t b = 0; b < t.batch; b++) {
        q[b + 1] = q[b] + (int32_t)t.sequence[b].q;
        kv[b + 1] = kv[b] + (int32_t)t.sequence[b].kv;
    }
    return 0;
}

static int measure(const struct config *config, struct random *shape_random, struct instance *out)
{
    const struct tokens t = draw_tokens(config, shape_random);
    set_shapes(&t, out);
    return 0;
}

#define DERIVED(name, member)                                                                                \
    static int64_t name(const struct config *config, struct random *shape_random,                            \
                        struct random *content_random)                                                       \
    {                                                                                                        \
        (void)content_random;                                                                                \
        return draw_tokens(config, shape_random).member;                                                     \
    }
DERIVED(queries, total.q)
DERIVED(keys, total.kv)
DERIVED(shortest, shortest)
DERIVED(cached, cached)
DERIVED(idle, idle)

#define LENGTHS                                                                                              \
    {                                                                                                        \
        "batch", "max_len", "causal", "kv", "lengths"                                                        \
    }

static const struct derived derived[] = {
    {"queries", DERIVED_EVERY, LENGTHS, "queries of all sequences", queries},
    {"keys", DERIVED_EVERY, LENGTHS, "keys of all sequences", keys},
    {"shortest", DERIVED_EVERY, LENGTHS, "fewest keys of a sequence with queries", shortest},
    {"cached", DERIVED_EVERY, LENGTHS, "most keys that a sequence has beyond its queries", cached},
    {"idle", DERIVED_EVERY, LENGTHS, "sequences without queries", idle},
    {0}};

const struct problem problem_attention = {
    .name = "attention",
    .summary =
        "prefill attention over ragged bf16 sequences, causal or not, with grouped heads and log-sum-exp",
    .arithmetic =
        "scores in fp32 or from 16-bit MMA, query and scores not rounded; probabilities may be rounded to "
        "bf16 for the second product, normalized or not; accumulation in fp32, split in any way; the sum of "
        "lse from fp32 exponentials that are not rounded",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .derived = derived,
    .arithmetic_class = ARITHMETIC_MMA16,
    .peak = PEAK_BF16,
    .classes = classes,
    .accumulation = {"max_len", {{"kv", "few"}, {"input", "positive"}}},
    .half = {V, 0, 0},
    .published_atol = 0.01,
    .published_rtol = 0.01,
    .host_ns = 2.5,
    .instantiate = instantiate,
    .measure = measure,
};
