/* Searches conditions that are certain on one side: every failure lies inside (necessary), or everything
 * inside fails (partial). A pass inside a necessary condition contradicts nothing, so a perfect fit is no
 * criterion. The criterion is the shortest description: the bits of the condition plus those of the outcomes,
 * given their numbers inside and outside. */
#include "search_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OPTIONS = 1024,
    PAIRED = 60,
    PER_CLASS = 6,
    ROUND_STEPS = 3,
    GENERAL_PAIRED = 120,
    LENGTHENED = 40,
    FEW_REMAINDERS = 16
};
static const double DEAREST_QUANTITY = 4.5;

/* A single predicate and its truth on the trials. */
struct option {
    struct predicate predicate;
    uint64_t *bits;
    double score;
};

struct sided {
    struct search search;
    enum rule_kind kind;
    struct option *option;
    uint64_t *bits;        /* [MOST_OPTIONS + 1, words] */
    double *log_factorial; /* [trials + 2], to base 2: a table, since half a million pairs are scored */
    int options, fails, passes;
};

double bits_of_outcomes(int a, int b)
{
    return (lgamma(a + b + 2.0) - lgamma(a + 1.0) - lgamma(b + 1.0)) / M_LN2;
}

/* The same as bits_of_outcomes, from the table. */
static double outcome_bits(const struct sided *sided, int a, int b)
{
    const double *log_factorial = sided->log_factorial;
    return log_factorial[a + b + 1] - log_factorial[a] - log_factorial[b];
}

static double score_of(const struct sided *sided, const uint64_t *bits, double cost)
{
    const struct evidence *evidence = sided->search.evidence;
    const int fails = bits_count_and(bits, evidence->fails, evidence->words);
    const int passes = bits_count_and(bits, evidence->passes, evidence->words);
    return BITS_OF_COST * cost + outcome_bits(sided, fails, passes) +
           outcome_bits(sided, sided->fails - fails, sided->passes - passes);
}

/* --- single questions --- */

static void keep(struct sided *sided, const struct predicate *predicate, const uint64_t *bits)
{
    const size_t bytes = (size_t)sided->search.evidence->words * sizeof *bits;
    const double score = score_of(sided, bits, predicate->cost);
    int at = sided->options;
    if (at == MOST_OPTIONS && score >= sided->option[at - 1].score)
        return;
    struct option *last = &sided->option[at < MOST_OPTIONS ? sided->options++ : --at];
    uint64_t *row = last->bits;
    for (; at > 0 && sided->option[at - 1].score > score; at--)
        sided->option[at] = sided->option[at - 1];
    memcpy(row, bits, bytes);
    sided->option[at] = (struct option){*predicate, row, score};
}

/* Returns whether the predicate is a range or set of many remainders. Passes inside a necessary condition
 * prove nothing, so some predicate of this kind is tight by chance. */
static bool is_tight_range(const struct predicate *predicate)
{
    if (predicate->kind == PREDICATE_RESIDUE_SET)
        return predicate->a > FEW_REMAINDERS;
    return predicate->kind == PREDICATE_RESIDUE_ABOVE && predicate->a > FEW_REMAINDERS &&
           !is_power_of_two(predicate->b) && !is_power_of_two(predicate->b + 1);
}

static void keep_class(struct sided *sided, const struct predicate_class *class)
{
    const struct predicate_table *table = &sided->search.table;
    int link = class->first;
    for (int n = 0; n < PER_CLASS && link >= 0; n++, link = table->link[link])
        if (sided->kind == RULE_PARTIAL || !is_tight_range(&table->predicate[link]))
            keep(sided, &table->predicate[link], class->bits);
}

static void keep_threshold(struct sided *sided, struct predicate predicate, int64_t threshold)
{
    const struct evidence *evidence = sided->search.evidence;
    uint64_t *row = sided->bits + (size_t)MOST_OPTIONS * (size_t)evidence->words;
    predicate.a = threshold;
    predicate.cost = vocabulary_cost(evidence->vocabulary, &predicate);
    memset(row, 0, (size_t)evidence->words * sizeof *row);
    for (int t = 0; t < evidence->trials; t++)
        row[t / 64] |=
            (uint64_t)((trial_values(evidence, t)[predicate.quantity] > threshold) != predicate.negated)
            << t % 64;
    keep(sided, &predicate, row);
}

static int64_t power_near(int64_t value, bool up)
{
    int64_t power = 1;
    while (power <= INT64_MAX / 4 && (up ? power < value : 2 * power <= value))
        power *= 2;
    return power;
}

/* Adds the tightest threshold of a necessary condition, and rounder ones that leave more room: the passes in
 * between may be due to chance. */
static void keep_thresholds(struct sided *sided, const struct predicate *tight)
{
    const struct evidence *evidence = sided->search.evidence;
    const struct quantity *quantity = quantity_of(evidence, tight->quantity);
    const struct domain *domain = domain_of(evidence, quantity->axis[0]);
    const bool up = tight->negated;
    int64_t power = power_near(tight->a + !up, up);
    keep_threshold(sided, *tight, tight->a);
    for (int i = 0; i < ROUND_STEPS && power > 0; i++, power = up ? 2 * power : power / 2) {
        keep_threshold(sided, *tight, power - 1 >= tight->a || !up ? power - 1 : power);
        if (up ? power > tight->a : power <= tight->a)
            keep_threshold(sided, *tight, power);
    }
    for (int i = 0; quantity_is_axis(quantity) && i < domain->tile_count; i++)
        if (up ? domain->tile[i] > tight->a : domain->tile[i] <= tight->a)
            keep_threshold(sided, *tight, domain->tile[i]);
    for (int i = 0; i < evidence->vocabulary->codeds; i++) {
        const struct predicate *const coded = &evidence->vocabulary->coded[i].predicate;
        if (coded->quantity == tight->quantity && coded->kind == PREDICATE_ABOVE &&
            (up ? coded->a > tight->a : coded->a <= tight->a))
            keep_threshold(sided, *tight, coded->a);
    }
    for (int i = 0; i < quantity->seen_count; i++)
        if (up ? quantity->seen[i] > tight->a : quantity->seen[i] <= tight->a)
            keep_threshold(sided, *tight, quantity->seen[i]);
}

static void list_necessary(struct sided *sided)
{
    struct search *search = &sided->search;
    const int count = search_necessary(search, search->evidence->fails);
    for (int i = 0; i < count; i++) {
        const struct column *column = &search->necessary[i];
        if (column->class)
            keep_class(sided, column->class);
        else if (quantity_of(search->evidence, column->predicate.quantity)->cost <= DEAREST_QUANTITY &&
                 quantity_of(search->evidence, column->predicate.quantity)->kind != QUANTITY_TILED_PRODUCT)
            keep_thresholds(sided, &column->predicate);
    }
}

static void list_partial(struct sided *sided)
{
    struct search *search = &sided->search;
    search_general(search);
    for (int i = 0; i < search->generals; i++) {
        const struct column *column = &search->general[i];
        if (column->passes > 0)
            continue;
        if (column->class)
            keep_class(sided, column->class);
        else
            keep(sided, &column->predicate, column->bits);
    }
}

/* --- rules of them --- */

static void add(struct hypotheses *out, const struct predicate *a, const struct predicate *b, double score)
{
    struct hypothesis hypothesis = {.term = {*a}, .starts = {true}, .count = b ? 2 : 1, .cost = score};
    if (b)
        hypothesis.term[1] = *b;
    hypotheses_add(out, &hypothesis);
}

static void add_pair(struct sided *sided, const struct predicate *a, const uint64_t *a_bits,
                     const struct predicate *b, const uint64_t *b_bits, struct hypotheses *out)
{
    const struct evidence *evidence = sided->search.evidence;
    uint64_t *both = sided->bits + (size_t)MOST_OPTIONS * (size_t)evidence->words;
    for (int w = 0; w < evidence->words; w++)
        both[w] = a_bits[w] & b_bits[w];
    add(out, a, b, score_of(sided, both, a->cost + b->cost + TERM_COST));
}

static void add_general_pairs(struct sided *sided, struct hypotheses *out)
{
    struct search *search = &sided->search;
    const int words = search->evidence->words;
    const int width = search->generals < GENERAL_PAIRED ? search->generals : GENERAL_PAIRED;
    for (int i = 0; i < width; i++)
        for (int j = i + 1; j < width; j++) {
            const struct column *a = &search->general[i], *b = &search->general[j];
            if (a->passes == 0 || b->passes == 0 || !bits_disjoint(a->bits, b->bits, search->passes, words))
                continue;
            const struct predicate *first =
                a->class ? &search->table.predicate[a->class->first] : &a->predicate;
            const struct predicate *second =
                b->class ? &search->table.predicate[b->class->first] : &b->predicate;
            add_pair(sided, first, a->bits, second, b->bits, out);
        }
}

/* Returns whether the predicate, as a second term, nearly always fits by chance. It lists values that
 * failures happen to have, or excludes input classes that pass by chance. */
static bool is_chance(const struct sided *sided, const struct predicate *predicate)
{
    return predicate->kind == PREDICATE_SMALL ||
           (predicate->kind == PREDICATE_SET && __builtin_popcountll((unsigned long long)predicate->a) > 2) ||
           (sided->kind == RULE_NECESSARY &&
            predicate_is_most_inputs(sided->search.evidence->vocabulary, predicate));
}

static void lengthen(struct sided *sided, const struct hypothesis *part, struct hypotheses *out)
{
    const struct evidence *evidence = sided->search.evidence;
    uint64_t *const held = sided->bits + (size_t)MOST_OPTIONS * (size_t)evidence->words,
                    *both = evidence->scratch;
    double cost = TERM_COST * part->count;
    memset(held, 0, (size_t)evidence->words * sizeof *held);
    for (int t = 0; t < evidence->trials; t++)
        if (hypothesis_holds_on(evidence, part, t))
            bit_set(held, t);
    for (int i = 0; i < part->count; i++)
        cost += part->term[i].cost;
    for (int i = 0; i < sided->options; i++) {
        const struct option *option = &sided->option[i];
        struct hypothesis longer = *part;
        if (is_chance(sided, &option->predicate))
            continue;
        for (int w = 0; w < evidence->words; w++)
            both[w] = held[w] & option->bits[w];
        longer.cost = score_of(sided, both, cost + option->predicate.cost);
        longer.term[longer.count] = option->predicate;
        longer.starts[longer.count++] = false;
        if (longer.cost < part->cost)
            hypotheses_add(out, &longer);
    }
}

/* Returns whether the rule may get further terms. All pairs of single predicates were tried, except those
 * with a set of several values, which may be the first term but no second one. */
static bool may_grow(const struct sided *sided, const struct hypothesis *hypothesis)
{
    return hypothesis->count > 1 ||
           (hypothesis->term[0].kind == PREDICATE_SET && is_chance(sided, &hypothesis->term[0]));
}

/* Adds further terms to the best rules as long as that shortens the description. */
static void add_longer(struct sided *sided, struct hypotheses *out)
{
    struct hypothesis best[LENGTHENED];
    for (int count = 1; count < MOST_TERMS; count++) {
        int parts = 0;
        for (int i = 0; i < out->count && parts < LENGTHENED; i++)
            if (out->item[i].count == count && may_grow(sided, &out->item[i]))
                best[parts++] = out->item[i];
        for (int i = 0; i < parts; i++)
            lengthen(sided, &best[i], out);
    }
}

static void add_rules(struct sided *sided, struct hypotheses *out)
{
    for (int i = 0; i < sided->options; i++)
        add(out, &sided->option[i].predicate, NULL, sided->option[i].score);
    if (sided->kind == RULE_PARTIAL) {
        add_general_pairs(sided, out);
        return;
    }
    for (int i = 0; i < sided->options && i < PAIRED; i++)
        /* a predicate that says little alone may say much inside another */
        for (int j = i + 1; j < sided->options; j++)
            if (!is_chance(sided, &sided->option[i].predicate) &&
                !is_chance(sided, &sided->option[j].predicate))
                add_pair(sided, &sided->option[i].predicate, sided->option[i].bits,
                         &sided->option[j].predicate, sided->option[j].bits, out);
    add_longer(sided, out);
}

static int sided_open(struct sided *sided, const struct evidence *evidence, enum rule_kind kind,
                      struct hypotheses *out)
{
    const size_t words = (size_t)evidence->words;
    int result = search_open(&sided->search, evidence, out);
    sided->kind = kind;
    sided->fails = bits_count(evidence->fails, evidence->words);
    sided->passes = bits_count(evidence->passes, evidence->words);
    sided->option = calloc(MOST_OPTIONS, sizeof *sided->option);
    sided->bits = calloc((MOST_OPTIONS + 1) * words, sizeof *sided->bits);
    sided->log_factorial = calloc((size_t)evidence->trials + 2, sizeof *sided->log_factorial);
    if (!sided->option || !sided->bits || !sided->log_factorial)
        return -1;
    for (int i = 0; i < MOST_OPTIONS; i++)
        sided->option[i].bits = sided->bits + (size_t)i * words;
    for (int i = 2; i <= evidence->trials + 1; i++)
        sided->log_factorial[i] = sided->log_factorial[i - 1] + log2(i);
    return result;
}

static void sided_close(struct sided *sided)
{
    search_close(&sided->search);
    free(sided->option);
    free(sided->bits);
    free(sided->log_factorial);
}

int search_one_sided(const struct evidence *evidence, enum rule_kind kind, struct hypotheses *out,
                     double *gain)
{
    struct sided sided = {.kind = kind};
    int result = sided_open(&sided, evidence, kind, out);
    out->count = 0;
    *gain = 0;
    if (result == 0 && sided.fails > 0 && sided.passes > 0) {
        if (kind == RULE_NECESSARY)
            list_necessary(&sided);
        else
            list_partial(&sided);
        add_rules(&sided, out);
        if (out->count > 0)
            *gain = bits_of_outcomes(sided.fails, sided.passes) - out->item[0].cost;
        result = sided.search.no_memory ? -1 : 0;
    }
    sided_close(&sided);
    return result;
}

/* --- what failures inside have in common --- */

static const double WORTH_SAYING = 6; /* bits */

/* Returns whether the predicate lists values that failures inside happen to have, which explains nothing. */
static bool is_set_of_values(const struct evidence *evidence, const struct predicate *predicate)
{
    const struct quantity *quantity = quantity_of(evidence, predicate->quantity);
    const bool range =
        quantity->kind != QUANTITY_CHOICE && domain_of(evidence, quantity->axis[0])->value_count == 0;
    return predicate->kind == PREDICATE_SMALL || predicate->kind == PREDICATE_RESIDUE_SET ||
           (predicate->kind == PREDICATE_SET && range) || is_tight_range(predicate);
}

bool search_inner(const struct evidence *evidence, const struct hypothesis *rule, struct hypothesis *out,
                  double *gain)
{
    struct search search;
    const size_t words = (size_t)evidence->words;
    uint64_t *side = calloc(2 * words, sizeof *side), *fails = side, *passes = side ? side + words : NULL;
    double best = HUGE_COST;
    bool found = side && search_open(&search, evidence, NULL) == 0;
    for (int t = 0; found && t < evidence->trials; t++)
        if (hypothesis_holds_on(evidence, rule, t))
            bit_set(bit_of(evidence->fails, t) ? fails : passes, t);
    for (int i = 0; found && i < search.table.count; i++) {
        const struct predicate_class *class = &search.table.item[i];
        const struct predicate *predicate = &search.table.predicate[class->first];
        const int in = bits_count_and(class->bits, fails, evidence->words);
        const int passed = bits_count_and(class->bits, passes, evidence->words);
        const int all = bits_count(fails, evidence->words), all_passed = bits_count(passes, evidence->words);
        const double score = BITS_OF_COST * predicate->cost + bits_of_outcomes(in, passed) +
                             bits_of_outcomes(all - in, all_passed - passed) + WORTH_SAYING -
                             bits_of_outcomes(all, all_passed);
        if (score < best && !is_set_of_values(evidence, predicate) &&
            (double)in * (all + all_passed) > (double)all * (in + passed)) {
            best = score;
            *out = (struct hypothesis){.term = {*predicate}, .starts = {true}, .count = 1};
        }
    }
    if (side)
        search_close(&search);
    free(side);
    *gain = -best;
    return found && best < 0;
}
