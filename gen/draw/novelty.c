#include "novelty.h"

#include <stdlib.h>

#include "gen/random/mix.h"

/* A set of hashed features, one bit each. A collision of two features loses a little novelty, without further
 * effect. A standard set has about 2^18 features. */
enum { BITS_LOG2 = 23, MOST_MARKS = 24 * PROBLEM_MAX_AXES };

/* Weight of a feature of one axis compared with a feature of two axes, which are about that many times as
 * frequent. */
static const double single_weight = 16;

/* Higher weight of published values, since a kernel made for them branches on them. */
static const double seen_weight = 8;

/* Higher weight with the published kind of data, since some faults (lost precision) show with no other. */
static const double published_weight = 4;

struct novelty {
    const struct space *space;
    const struct config_list *seen;
    int input; /* index of the axis of input classes; -1: none */
    uint64_t bits[(size_t)1 << (BITS_LOG2 - 6)];
};

/* One feature of one axis. */
struct mark {
    uint64_t key, mixed; /* key is hashed again into mixed if this mark is the second of a pair */
    int axis;
    bool fine;     /* its kind is too numerous to be combined in pairs */
    double weight; /* weight in pairs */
};

enum mark_kind { MARK_LISTED = 1, MARK_PUBLISHED, MARK_BITS, MARK_RESIDUE, MARK_PRODUCT, MARK_ORDER };

struct novelty *novelty_open(const struct space *space, const struct config_list *seen)
{
    struct novelty *novelty = calloc(1, sizeof *novelty);
    if (!novelty)
        return NULL;
    novelty->space = space;
    novelty->seen = seen;
    novelty->input = problem_input_axis(space->problem);
    return novelty;
}

void novelty_close(struct novelty *novelty)
{
    free(novelty);
}

/* --- features --- */

static uint64_t key_of(enum mark_kind kind, int axis, int64_t a, int64_t b)
{
    const uint64_t head = mix64(((uint64_t)kind << 32 | (uint64_t)axis) + 0x9e3779b97f4a7c15u);
    return mix64(mix64(head + (uint64_t)a) + (uint64_t)b);
}

static int bit_length(double value) /* number of bits of a product: exact enough, without overflow */
{
    int bits = 0;
    for (; value >= 1; value /= 2)
        bits++;
    return bits;
}

static int add(struct mark *marks, int count, enum mark_kind kind, int axis, int64_t a, int64_t b, bool fine)
{
    const uint64_t key = key_of(kind, axis, a, b);
    marks[count] = (struct mark){key, mix64(key), axis, fine, kind == MARK_PUBLISHED ? seen_weight : 1};
    return count + 1;
}

/* Adds the marks of one axis: remainders by powers of two, since finer ones tell more, and by the smallest
 * primes. */
static int mark_axis(const struct novelty *novelty, const struct config *config, int axis, struct mark *marks)
{
    static const int modulus[] = {2, 4, 8, 16, 32, 64, 128, 3, 5, 7};
    enum { COARSE = 8 };
    const struct domain *domain = &novelty->space->domain[axis];
    const int64_t value = config->value[axis];
    int count = 0;
    if (domain->value_count > 0)
        count = add(marks, count, MARK_LISTED, axis, value, 0, false);
    if (novelty->space->problem->axes[axis].kind != AXIS_NUMBER)
        return count;
    if (novelty->seen && config_list_has(novelty->seen, axis, value))
        count = add(marks, count, MARK_PUBLISHED, axis, value, 0, false);
    count = add(marks, count, MARK_BITS, axis, bit_length((double)value), 0, false);
    for (size_t i = 0; i < sizeof modulus / sizeof *modulus; i++)
        count = add(marks, count, MARK_RESIDUE, axis, modulus[i], value % modulus[i], modulus[i] > COARSE);
    return count;
}

static int mark_all(const struct novelty *novelty, const struct config *config, struct mark *marks)
{
    const struct axis *axes = novelty->space->problem->axes;
    int count = 0;
    for (int i = 0; axes[i].name; i++)
        if (novelty->space->domain[i].value_count != 1)
            count += mark_axis(novelty, config, i, marks + count);
    return count;
}

/* Returns a number of its own for each pair of axes i < j. For the first twelve axes it stays what it was
 * when problems had at most twelve, since the drawn sets depend on it. */
static int pair_number(int i, int j)
{
    enum { FIRST = 12 };
    return j < FIRST ? i * FIRST + j : FIRST * FIRST + i * PROBLEM_MAX_AXES + j;
}

/* Adds marks of two extents together, one of which is `only` (-1: any): the size of their product, and which
 * one is larger. */
static int mark_products(const struct novelty *novelty, const struct config *config, int only,
                         struct mark *marks)
{
    const struct axis *axes = novelty->space->problem->axes;
    int count = 0;
    for (int i = 0; axes[i].name; i++)
        for (int j = i + 1; axes[j].name; j++) {
            const int64_t a = config->value[i], b = config->value[j];
            const int pair = pair_number(i, j);
            if (axes[i].kind != AXIS_NUMBER || axes[j].kind != AXIS_NUMBER ||
                (only >= 0 && i != only && j != only))
                continue;
            count = add(marks, count, MARK_PRODUCT, pair, bit_length((double)a * (double)b), 0, true);
            count = add(marks, count, MARK_ORDER, pair, a < b ? -1 : a > b, 0, true);
        }
    return count;
}

/* --- what is new --- */

/* Returns 1 or 0, to be used as a factor. A conditional jump would wait for each word of the table, which
 * exceeds every cache next to a core. */
static int is_new(const struct novelty *novelty, uint64_t key)
{
    const uint64_t at = key >> (64 - BITS_LOG2);
    return ~(novelty->bits[at >> 6] >> (at & 63)) & 1;
}

static void know(struct novelty *novelty, uint64_t key)
{
    const uint64_t at = key >> (64 - BITS_LOG2);
    novelty->bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

/* Returns the key of a pair. Marks come in the order of the axes, so a pair always has the same key. */
static uint64_t pair_key(const struct mark *a, const struct mark *b)
{
    return mix64(a->key + b->mixed);
}

/* The features of a configuration. Coarse marks are combined in pairs. The input class has a single mark,
 * which is combined with every other. */
struct marks {
    struct mark all[MOST_MARKS], products[MOST_MARKS];
    int count, product_count;
    int coarse[MOST_MARKS], coarse_count;
    int data; /* index of the mark of the input class; -1: none */
};

static void marks_make(struct marks *marks, const struct novelty *novelty, const struct config *config,
                       int only)
{
    marks->count = mark_all(novelty, config, marks->all);
    marks->product_count = mark_products(novelty, config, only, marks->products);
    marks->coarse_count = 0;
    marks->data = -1;
    for (int i = 0; i < marks->count; i++) {
        if (!marks->all[i].fine)
            marks->coarse[marks->coarse_count++] = i;
        if (marks->all[i].axis == novelty->input)
            marks->data = i;
    }
}

/* Returns the next mark after `j` that forms a pair with the earlier mark `i`; marks->count if there is none.
 * `*at` counts the coarse marks, from 0. */
static int pair_next(const struct marks *marks, int i, int j, int *at)
{
    const bool fine = marks->all[i].fine;
    if (i == marks->data)
        return j + 1;
    if (fine)
        return j < marks->data && marks->data > i ? marks->data : marks->count;
    while (*at < marks->coarse_count &&
           (marks->coarse[*at] <= j || marks->all[marks->coarse[*at]].axis == marks->all[i].axis))
        ++*at;
    return *at < marks->coarse_count ? marks->coarse[*at] : marks->count;
}

static bool has_published_data(const struct novelty *novelty, const struct config *config)
{
    const struct axis *axes = novelty->space->problem->axes;
    for (int i = 0; axes[i].name; i++)
        if (axes[i].kind == AXIS_CHOICE && config->value[i] != novelty->space->domain[i].value[0])
            return false;
    return true;
}

/* Returns the novelty of the pair; mark i comes before mark j in the order of the axes. */
static double pair_worth(const struct novelty *novelty, const struct marks *marks, int i, int j, double data)
{
    const struct mark *a = &marks->all[i], *b = &marks->all[j];
    return is_new(novelty, pair_key(a, b)) * a->weight * b->weight *
           (i == marks->data || j == marks->data ? data : 1);
}

static double products_worth(const struct novelty *novelty, const struct marks *marks)
{
    double sum = 0;
    for (int i = 0; i < marks->product_count; i++)
        sum += is_new(novelty, marks->products[i].key) * single_weight;
    return sum;
}

double novelty_of(const struct novelty *novelty, const struct config *config)
{
    struct marks marks;
    marks_make(&marks, novelty, config, -1);
    const double data = has_published_data(novelty, config) ? published_weight : 1;
    double sum = products_worth(novelty, &marks);
    for (int i = 0; i < marks.count; i++) {
        sum += is_new(novelty, marks.all[i].key) * single_weight;
        int at = 0;
        for (int j = i; (j = pair_next(&marks, i, j, &at)) < marks.count;)
            sum += pair_worth(novelty, &marks, i, j, data);
    }
    return sum;
}

double novelty_of_axis(const struct novelty *novelty, const struct config *config, int axis)
{
    struct marks marks;
    marks_make(&marks, novelty, config, axis);
    const double data = has_published_data(novelty, config) ? published_weight : 1;
    double sum = products_worth(novelty, &marks);
    for (int i = 0; i < marks.count; i++) {
        if (marks.all[i].axis != axis)
            continue;
        sum += is_new(novelty, marks.all[i].key) * single_weight;
        for (int c = 0; c < marks.coarse_count; c++) {
            const int j = marks.coarse[c];
            if (marks.all[j].axis != axis && (!marks.all[i].fine || j == marks.data))
                sum +=
                    i < j ? pair_worth(novelty, &marks, i, j, data) : pair_worth(novelty, &marks, j, i, data);
        }
    }
    return sum;
}

void novelty_mark(struct novelty *novelty, const struct config *config)
{
    struct marks marks;
    marks_make(&marks, novelty, config, -1);
    for (int i = 0; i < marks.product_count; i++)
        know(novelty, marks.products[i].key);
    for (int i = 0; i < marks.count; i++) {
        know(novelty, marks.all[i].key);
        int at = 0;
        for (int j = i; (j = pair_next(&marks, i, j, &at)) < marks.count;)
            know(novelty, pair_key(&marks.all[i], &marks.all[j]));
    }
}
