#include "problems/problem.h"

#include <stdlib.h>
#include <string.h>

static const char *const lengths[] = {"equal", "ragged", "one", "short", "full", "over", NULL};
enum { EQUAL, RAGGED, ONE, SHORT, FULL, OVER }; /* indices into the list above */
static const char *const tables[] = {"shuffled", "identity", "reversed", "shared", NULL};
static const char *const pasts[] = {"finite", "nan", "invalid", NULL};

static const struct axis axes[] = {
    {"batch", AXIS_NUMBER, NULL, "sequences"},
    {"heads", AXIS_NUMBER, NULL, "query heads; a multiple of kv_heads"},
    {"kv_heads", AXIS_NUMBER, NULL, "key and value heads"},
    {"head_dim", AXIS_NUMBER, NULL, "length of a query, key or value"},
    {"page_size", AXIS_NUMBER, NULL, "tokens of a page"},
    {"max_len", AXIS_NUMBER, NULL, "tokens of the longest sequence"},
    {"lengths", AXIS_CHOICE, lengths,
     "the others: all equal; ragged; one token; less than a page; whole pages; whole pages + 1"},
    {"table", AXIS_CHOICE, tables, "page numbers; shared: sequences share their first pages"},
    {"past", AXIS_CHOICE, pasts,
     "what lies past a sequence's end: finite values; NaN and 2^126 in turns; so, and invalid page numbers"},
    {"input", AXIS_CHOICE, NULL, "how query, keys and values are drawn"},
    {0}};

static const struct tensor tensors[] = {
    {"query", DTYPE_BF16, TENSOR_INPUT, "[batch, heads, head_dim]"},
    {"kv_cache", DTYPE_BF16, TENSOR_INPUT, "[pages, page_size, kv_heads, 2*head_dim]"},
    {"block_table", DTYPE_I32, TENSOR_INPUT, "[batch, pages_per_seq]"},
    {"seq_lens", DTYPE_I32, TENSOR_INPUT, "[batch]"},
    {"out", DTYPE_BF16, TENSOR_OUTPUT, "[batch, heads, head_dim]"},
    {0}};

static const struct argument arguments[] = {{"batch", ARGUMENT_I64},         {"heads", ARGUMENT_I64},
                                            {"kv_heads", ARGUMENT_I64},      {"head_dim", ARGUMENT_I64},
                                            {"page_size", ARGUMENT_I64},     {"pages", ARGUMENT_I64},
                                            {"pages_per_seq", ARGUMENT_I64}, {0}};

enum { QUERY, KV_CACHE, BLOCK_TABLE, SEQ_LENS, OUT };

/* Working data of `instantiate`. */
struct cache {
    int64_t batch, heads, kv_heads, head_dim, page_size, max_len, lengths;
    int64_t pages, pages_per_seq;
    int32_t *length; /* [batch] */
    int32_t *table;  /* [batch, pages_per_seq] */
    int32_t *valid;  /* [pages]: number of leading slots that tokens use */
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t between(struct random *random, int64_t low, int64_t high)
{
    return high <= low ? low : low + (int64_t)random_below(random, (uint64_t)(high - low + 1));
}

static struct cache cache_of(const struct config *config)
{
    struct cache c = {.batch = config_value(config, "batch"),
                      .heads = config_value(config, "heads"),
                      .kv_heads = config_value(config, "kv_heads"),
                      .head_dim = config_value(config, "head_dim"),
                      .page_size = config_value(config, "page_size"),
                      .max_len = config_value(config, "max_len"),
                      .lengths = config_value(config, "lengths")};
    c.pages_per_seq = ceil_div(c.max_len, c.page_size);
    return c;
}

/* Draws the length of sequence b before the permutation; must be called in order of b. The first one has
 * max_len tokens, so that the axis has its stated meaning. */
static int64_t draw_length(const struct cache *c, int64_t b, struct random *random)
{
    if (b == 0)
        return c->max_len;
    const int64_t whole = between(random, 0, c->max_len / c->page_size) * c->page_size;
    switch (c->lengths) {
    case RAGGED: return between(random, 1, c->max_len);
    case ONE: return 1;
    case SHORT: return between(random, 1, c->page_size - 1 < c->max_len ? c->page_size - 1 : c->max_len);
    case FULL: return whole > 0 ? whole : c->page_size < c->max_len ? c->page_size : c->max_len;
    case OVER: return whole < c->max_len ? whole + 1 : c->max_len;
    default: return c->max_len;
    }
}

/* Draws the lengths from the shape's stream. False when out of memory. */
static bool draw_lengths(struct cache *c, struct random *shape_random)
{
    c->length = malloc((size_t)c->batch * sizeof *c->length);
    for (int64_t b = 0; c->length && b < c->batch; b++)
        c->length[b] = (int32_t)draw_length(c, b, shape_random);
    return c->length != NULL;
}

/* The draw decides which sequence has which length, including the longest. */
static void permute_lengths(struct cache *c, struct random *content_random)
{
    for (int64_t b = c->batch - 1; b > 0; b--) {
        int64_t other = (int64_t)random_below(content_random, (uint64_t)b + 1);
        int32_t length = c->length[b];
        c->length[b] = c->length[other];
        c->length[other] = length;
    }
}

static int64_t shortest(const struct config *config, struct random *shape_random,
                        struct random *content_random)
{
    const struct cache c = cache_of(config);
    int64_t least = c.max_len;
    (void)content_random;
    for (int64_t b = 0; b < c.batch; b++) {
        const int64_t length = draw_length(&c, b, shape_random);
        least = length < least ? length : least;
    }
    return least;
}

/* Does page i of sequence b belong to the preceding sequence? Only with `shared`, for the first half of the
 * pages of an odd sequence. */
static bool shares_page(const struct cache *c, int64_t b, int64_t i)
{
    const int64_t mine = ceil_div(c->length[b], c->page_size);
    return b % 2 == 1 && i < (mine + 1) / 2 && i < ceil_div(c->length[b - 1], c->page_size);
}

/* Number of pages in the cache: an upper bound that does not depend on the permutation, so that shapes are
 * the same in every draw. If lengths differ, the table names some pages nowhere. */
static int64_t count_pages(const struct config *config, const struct cache *c)
{
    int64_t pages = 0;
    for (int64_t b = 0; b < c->batch; b++)
        pages += ceil_div(c->length[b], c->page_size);
    return config_chose(config, "past", "finite") ? pages : pages + 1 + pages / 16;
}

static int32_t *draw_numbering(const struct config *config, int64_t pages, struct random *random)
{
    const bool reversed = config_chose(config, "table", "reversed");
    int32_t *number = malloc((size_t)pages * sizeof *number);
    if (!number)
        return NULL;
    for (int64_t i = 0; i < pages; i++)
        number[i] = (int32_t)(reversed ? pages - 1 - i : i);
    if (config_chose(config, "table", "shuffled") || config_chose(config, "table", "shared"))
        for (int64_t i = pages - 1; i > 0; i--) {
            int64_t other = (int64_t)random_below(random, (uint64_t)i + 1);
            int32_t page = number[i];
            number[i] = number[other];
            number[other] = page;
        }
    return number;
}

static int32_t past_entry(bool wild, const struct cache *c, struct random *random)
{
    static const int32_t invalid[] = {-1, INT32_MAX, INT32_MIN};
    if (!wild)
        return (int32_t)random_below(random, (uint64_t)c->pages);
    const uint64_t kind = random_below(random, 4);
    return kind < 3 ? invalid[kind] : (int32_t)c->pages;
}

static int draw_table(const struct config *config, struct cache *c, struct random *random)
{
    const bool wild = config_chose(config, "past", "invalid"),
               shared = config_chose(config, "table", "shared");
    int32_t *number = draw_numbering(config, c->pages, random);
    int64_t next = 0;
    if (!number)
        return -1;
    memset(c->valid, 0, (size_t)c->pages * sizeof *c->valid);
    for (int64_t b = 0; b < c->batch; b++) {
        int32_t *row = c->table + b * c->pages_per_seq;
        for (int64_t i = 0; i < c->pages_per_seq; i++) {
            const int64_t left = c->length[b] - i * c->page_size;
            if (left <= 0) {
                row[i] = past_entry(wild, c, random);
                continue;
            }
            if (shared && shares_page(c, b, i))
                row[i] = row[i - c->pages_per_seq];
            else
                row[i] = number[next++];
            const int32_t slots = (int32_t)(left < c->page_size ? left : c->page_size);
            if (c->valid[row[i]] < slots)
                c->valid[row[i]] = slots;
        }
    }
    free(number);
    return 0;
}

static int64_t token_offset(const struct cache *c, int64_t b, int64_t t, int64_t kv_head)
{
    const int64_t page = c->table[b * c->pages_per_seq + t / c->page_size];
    return ((page * c->page_size + t % c->page_size) * c->kv_heads + kv_head) * 2 * c->head_dim;
}

/* --- values --- */

/* Reads the cache that `instantiate` drew. */
static struct cache cache_in(const struct config *config, const struct instance *instance)
{
    struct cache c = cache_of(config);
    c.length = instance->tensor[SEQ_LENS].fill.given;
    c.table = instance->tensor[BLOCK_TABLE].fill.given;
    c.pages = instance->tensor[KV_CACHE].dim[0];
    return c;
}

/* A token at a multiple of a power of two, where a split, a tile or a page is likely to begin or end. */
static int64_t edge_token(int64_t length, struct random *random)
{
    uint64_t doublings = 0;
    while ((int64_t)16 << (doublings + 1) <= length)
        doublings++;
    const int64_t tile = (int64_t)16 << random_below(random, doublings + 1);
    const int64_t token = between(random, 0, length / tile) * tile - (int64_t)random_below(random, 2);
    return token < 0 ? 0 : token < length ? token : length - 1;
}

/* Keys and values are +-3. Every query is 8 times the key of one token of its sequence, which scores 72
 * sqrt(D). A key that differs in h places scores 144 h / sqrt(D) less, at least 9 h: from h = 12 on its
 * weight is 0 in fp32. Of 2^17 random keys one is closer only once in 10^8. So every admitted arithmetic
 * returns the token's value row bit for bit. 3 lies between its bf16 neighbours and is no power of two. The
 * token is the last one, the first, the last of a page, at the edge of a tile, or any. */
static int gather_queries(const struct config *config, struct random *random, struct instance *out)
{
    const struct cache c = cache_in(config, out);
    const int64_t rows = c.batch * c.heads;
    int64_t *start = malloc((size_t)rows * sizeof *start);
    if (!start)
        return -1;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t b = row / c.heads, length = c.length[b];
        const int64_t choices[] = {length - 1, 0, length / c.page_size * c.page_size - 1,
                                   edge_token(length, random), between(random, 0, length - 1)};
        const int64_t choice = choices[row < 2 ? 0 : random_below(random, 5)];
        start[row] =
            token_offset(&c, b, choice < 0 ? length - 1 : choice, row % c.heads / (c.heads / c.kv_heads));
    }
    out->tensor[QUERY].fill.start = start;
    out->tensor[QUERY].fill.starts = rows;
    return 0;
}

/* A zero query: all scores are 0, and the output is the plain mean of the values, which are 0 or +-1. The sum
 * of n such numbers is about sqrt(n), so a single value has more effect if few of a column are nonzero: about
 * 400, or 1 in 128. Some tokens are always nonzero: the last ones, the first, and edges of tiles. */
static int thin_values(const struct config *config, struct random *random, struct instance *out)
{
    const struct cache c = cache_in(config, out);
    struct fill *kv = &out->tensor[KV_CACHE].fill;
    const float density = 400 / (float)c.max_len;
    kv->density = density > 0.9f ? 0.9f : density > 0x1p-7f ? density : 0x1p-7f;
    for (int i = 0; i < FILL_MAX_PLANTED; i++) {
        const int64_t b = (int64_t)random_below(random, (uint64_t)c.batch), length = c.length[b];
        const int64_t head = i ? between(random, 0, c.kv_heads - 1) : c.kv_heads - 1;
        const int64_t d = i ? between(random, 0, c.head_dim - 1) : c.head_dim - 1;
        const int64_t t = i < 4 ? length - 1 : i < 6 ? 0 : edge_token(length, random);
        kv->planted[i] =
            (struct fill_planted){token_offset(&c, b, t, head) + c.head_dim + d, i % 2 ? -8.0f : 8.0f};
    }
    kv->planted_count = FILL_MAX_PLANTED;
    return 0;
}

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

static const struct input_class classes[] = {
    {"normal", DATA_SIGN_RANDOM, "as published: deviation 0.1, so that all tokens weigh much the same",
     .fill = {[QUERY] = NORMAL(0.1f), [KV_CACHE] = NORMAL(0.1f)}},
    {"onehot", DATA_EXACT, "every query finds one key and returns its value, bit for bit",
     .discriminating = 2,
     .fill = {[QUERY] = {.kind = FILL_GATHER, .b = 8, .source = KV_CACHE},
              [KV_CACHE] = {.kind = FILL_SIGNS, .b = 3}},
     .adjust = gather_queries},
    {"uniform", DATA_EXACT,
     "zero queries: the mean of values 0 and +-1, where one dropped or doubled token shows",
     .discriminating = 1,
     .fill = {[QUERY] = {.kind = FILL_CONSTANT, .a = 0}, [KV_CACHE] = {.kind = FILL_INTEGERS, .b = 1}},
     .adjust = thin_values},
    {"large", DATA_SIGN_RANDOM, "deviation 4: a few tokens have all the weight, and a running maximum moves",
     .fill = {[QUERY] = NORMAL(4), [KV_CACHE] = NORMAL(4)}},
    {"wide", DATA_SIGN_RANDOM, "magnitudes from 2^-8 to 2^4", .fill = {[QUERY] = WIDE, [KV_CACHE] = WIDE}},
    {"ties", DATA_ANY, "equal scores, whose roundings agree",
     .fill = {[QUERY] = THREE_LEVELS, [KV_CACHE] = THREE_LEVELS}},
    {"positive", DATA_SIGN_RANDOM, "keys and values in [1, 2): nothing cancels, what sums lose accumulates",
     .fill = {[QUERY] = NORMAL(1), [KV_CACHE] = {.kind = FILL_UNIFORM, .a = 1, .b = 2}}},
    {0}};

/* --- instances --- */

static void set_shapes(const struct cache *c, struct instance *out)
{
    double tokens = 0;
    for (int64_t b = 0; b < c->batch; b++)
        tokens += c->length[b];
    const double query_bytes = 2.0 * (double)(c->batch * c->heads * c->head_dim);
    *out = (struct instance){
        .extent = {c->batch, c->heads, c->kv_heads, c->head_dim, c->page_size, c->pages, c->pages_per_seq},
        .tensor = {{.rank = 3, .dim = {c->batch, c->heads, c->head_dim}},
                   {.rank = 4, .dim = {c->pages, c->page_size, c->kv_heads, 2 * c->head_dim}},
                   {.rank = 2, .dim = {c->batch, c->pages_per_seq}},
                   {.rank = 1, .dim = {c->batch}},
                   {.rank = 3, .dim = {c->batch, c->heads, c->head_dim}}},
        .flops = 4.0 * (double)(c->heads * c->head_dim) * tokens,
        .bytes = 4.0 * tokens * (double)(c->kv_heads * c->head_dim) + 2 * query_bytes};
}

/* Slots past a sequence's end are undefined. */
static void set_garbage(const struct cache *c, struct fill *kv)
{
    kv->valid = c->valid;
    kv->valids = c->pages;
    kv->garbage_row = c->kv_heads * 2 * c->head_dim;
    kv->garbage_block = c->page_size * kv->garbage_row;
}

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    struct cache c = cache_of(config);
    if (!draw_lengths(&c, shape_random))
        return -1;
    permute_lengths(&c, content_random);
    c.pages = count_pages(config, &c);
    c.table = malloc((size_t)(c.batch * c.pages_per_seq) * sizeof *c.table);
    c.valid = malloc((size_t)c.pages * sizeof *c.valid);
    set_shapes(&c, out);
    out->tensor[BLOCK_TABLE].fill.given = c.table;
    out->tensor[SEQ_LENS].fill.given = c.length;
    set_garbage(&c, &out->tensor[KV_CACHE].fill);
    if (!c.table || !c.valid || draw_table(config, &c, content_random) != 0)
        return -1;
    if (config_chose(config, "past", "finite")) {
        free(c.valid);
        out->tensor[KV_CACHE].fill = (struct fill){0};
    }
    return 0;
}

static int measure(const struct config *config, struct random *shape_random, struct instance *out)
{
    struct cache c = cache_of(config);
    if (!draw_lengths(&c, shape_random))
        return -1;
    c.pages = count_pages(config, &c);
    set_shapes(&c, out);
    free(c.length);
    return 0;
}

/* Number of elements that an offset into the cache can reach: the table scatters tokens over all pages. */
static int64_t cache_elements(const struct config *config, struct random *shape_random,
                              struct random *content_random)
{
    struct instance instance;
    (void)content_random;
    return measure(config, shape_random, &instance) ? 0 : instance_tensor_count(&instance.tensor[KV_CACHE]);
}

static const struct derived derived[] = {
    {"shortest",
     DERIVED_EVERY,
     {"batch", "page_size", "max_len", "lengths"},
     "tokens of the shortest sequence; the longest has max_len",
     shortest},
    {"cache",
     DERIVED_EVERY,
     {"batch", "kv_heads", "head_dim", "page_size", "max_len", "lengths", "past"},
     "elements of kv_cache, which holds the pages that the sequences need",
     cache_elements},
    {0}};

const struct problem problem_paged_attention = {
    .name = "paged_attention",
    .summary = "one decode step of grouped-query attention over a paged bf16 KV cache",
    .arithmetic = "scores in fp32 or from 16-bit MMA, query and scores not rounded; unnormalized "
                  "probabilities may be rounded to bf16; accumulation in fp32, split in any way",
    .axes = axes,
    .tensors = tensors,
    .arguments = arguments,
    .derived = derived,
    .arithmetic_class = ARITHMETIC_MMA16,
    .peak = PEAK_MEMORY,
    .classes = classes,
    .accumulation = {"max_len", {{"lengths", "equal"}, {"input", "positive"}}},
    .half = {3, 0, 0},
    .published_atol = 0.02,
    .published_rtol = 0.02,
    .host_ns = 2.5,
    .instantiate = instantiate,
    .measure = measure,
};
