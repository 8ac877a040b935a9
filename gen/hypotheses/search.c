/* Searches rules that are right on every trial. A conjunction of this kind consists of predicates that hold
 * on every failure ("necessary"). These are few, so all their pairs can be tried. A disjunction is the
 * negation of a conjunction that separates the passes from the failures. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR_WIDTH = 700, CLAUSES_COST = 3, MOST_ALTERNATIVES = 64 };
static const double COST_WORTH_TWO_CLAUSES = 13, COST_WORTH_MORE_TERMS = 9, COST_OF_PUBLISHED = 6;

static bool has_threshold(const struct hypothesis *hypothesis)
{
    for (int i = 0; i < hypothesis->count; i++)
        if (hypothesis->term[i].kind == PREDICATE_ABOVE)
            return true;
    return false;
}

/* Returns the least cost that the rule may have, since a threshold may turn out to be a round one. */
static double least_cost(const struct search *search, const struct hypothesis *hypothesis)
{
    double cost = hypothesis->cost;
    for (int i = 0; i < hypothesis->count; i++)
        if (hypothesis->term[i].kind == PREDICATE_ABOVE)
            cost += 2.5 + quantity_of(search->evidence, hypothesis->term[i].quantity)->cost -
                    hypothesis->term[i].cost;
    return cost;
}

static void add_hypothesis(struct search *search, const struct hypothesis *hypothesis)
{
    const struct hypotheses *out = search->out;
    if (out->count == MOST_HYPOTHESES && least_cost(search, hypothesis) >= out->item[out->count - 1].cost)
        return;
    if (has_threshold(hypothesis))
        add_threshold_variants(search->evidence, hypothesis, search->extra > 0, search->out);
    else
        hypotheses_add(search->out, hypothesis);
}

/* --- from columns to rules --- */

static void emit_from(struct search *search, const struct shape *shape, struct hypothesis *hypothesis)
{
    static const int most[] = {0, MOST_ALTERNATIVES, 8, 4, 3};
    const struct evidence *evidence = search->evidence;
    if (hypothesis->count == shape->count) {
        add_hypothesis(search, hypothesis);
        return;
    }
    const int i = hypothesis->count;
    const struct column *column = shape->column[i];
    const double before = hypothesis->cost;
    int link = column->class ? column->class->first : -1;
    for (int n = 0; n < most[shape->count]; n++) {
        struct predicate *predicate = &hypothesis->term[i];
        *predicate = link >= 0 ? search->table.predicate[link] : column->predicate;
        if (search->swapped) {
            predicate->negated = !predicate->negated;
            predicate->cost = predicate_cost(predicate, quantity_of(evidence, predicate->quantity),
                                             evidence->vocabulary->space);
        }
        hypothesis->starts[i] = search->swapped || shape->starts[i];
        hypothesis->cost = before + predicate->cost + (i ? CLAUSES_COST + hypothesis->starts[i] : 0);
        hypothesis->count = i + 1;
        emit_from(search, shape, hypothesis);
        hypothesis->count = i;
        hypothesis->cost = before;
        link = link >= 0 ? search->table.link[link] : -1;
        if (link < 0)
            break;
    }
}

void search_emit(struct search *search, const struct shape *shape)
{
    const struct hypotheses *out = search->out;
    struct hypothesis hypothesis = {.cost = search->extra};
    double least = search->extra + CLAUSES_COST * (shape->count - 1);
    for (int i = 0; i < shape->count; i++)
        least += shape->column[i]->cost;
    if (search->swapped)
        least -= shape->count; /* negation may make each of them cheaper */
    if (out->count < MOST_HYPOTHESES || least < out->item[out->count - 1].cost)
        emit_from(search, shape, &hypothesis);
}

/* --- necessary columns --- */

static int by_passes(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->passes != y->passes)
        return x->passes < y->passes ? -1 : 1;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

static int by_cost(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->passes < y->passes ? -1 : x->passes > y->passes;
}

/* Finds the tightest threshold that holds on all of `fails`, from above or from below. */
static void tight_threshold(const struct search *search, const uint64_t *fails, int q, bool below,
                            uint64_t *row, struct column *column)
{
    const struct evidence *evidence = search->evidence;
    int64_t edge = below ? INT64_MIN : INT64_MAX;
    struct predicate *predicate = &column->predicate;
    for (int t = 0; t < evidence->trials; t++) {
        const int64_t value = trial_values(evidence, t)[q];
        if (bit_of(fails, t) && (below ? value > edge : value < edge))
            edge = value;
    }
    *column = (struct column){.bits = row};
    *predicate = (struct predicate){.quantity = q, .kind = PREDICATE_ABOVE, .negated = below};
    predicate->a = below ? edge : edge - 1;
    predicate->cost = 2.5 + quantity_of(evidence, q)->cost;
    memset(row, 0, (size_t)evidence->words * sizeof *row);
    for (int t = 0; t < evidence->trials; t++)
        row[t / 64] |= (uint64_t)((trial_values(evidence, t)[q] > predicate->a) != below) << t % 64;
    column->cost = predicate->cost;
}

int search_necessary(struct search *search, const uint64_t *fails)
{
    const struct evidence *evidence = search->evidence;
    const int words = evidence->words, passes = bits_count(search->passes, words);
    int count = 0;
    for (int i = 0; i < search->table.count; i++) {
        const struct predicate_class *class = &search->table.item[i];
        if (!bits_cover(class->bits, fails, words))
            continue;
        const int left = bits_count_and(class->bits, search->passes, words);
        if (left < passes || passes == 0) /* if nothing passes yet, each of them is a rule */
            search->necessary[count++] =
                (struct column){.bits = class->bits, .class = class, .cost = class->cost, .passes = left};
    }
    for (int i = 0; i < 2 * evidence->vocabulary->quantities; i++) {
        struct column *column = &search->necessary[count];
        uint64_t *row = search->row + (size_t)i * (size_t)words;
        if (!quantity_has_thresholds(quantity_of(evidence, i / 2)))
            continue;
        tight_threshold(search, fails, i / 2, i % 2, row, column);
        column->passes = bits_count_and(row, search->passes, words);
        count += column->passes < passes;
    }
    return count;
}

/* Keeps the columns with the fewest passes (half of the width) and the simplest ones (the other half). */
static int keep_best(struct column *column, int count, int width)
{
    qsort(column, (size_t)count, sizeof *column, by_passes);
    if (count <= width)
        return count;
    qsort(column + width / 2, (size_t)(count - width / 2), sizeof *column, by_cost);
    qsort(column, (size_t)width, sizeof *column, by_passes);
    return width;
}

static struct shape extended(const struct shape *prefix, const struct column **column, int count)
{
    struct shape shape = *prefix;
    for (int i = 0; i < count; i++) {
        shape.starts[shape.count] = i == 0;
        shape.column[shape.count++] = column[i];
    }
    return shape;
}

void search_conjunctions(struct search *search, const uint64_t *fails, const struct shape *prefix, int most,
                         int width)
{
    const int words = search->evidence->words;
    const int count = keep_best(search->necessary, search_necessary(search, fails), width);
    const struct column *all = search->necessary;
    for (int i = 0; i < count; i++) {
        if (all[i].passes == 0) {
            const struct shape shape = extended(prefix, (const struct column *[]){&all[i]}, 1);
            search_emit(search, &shape);
            continue;
        }
        for (int j = i + 1; most > 1 && j < count; j++)
            if (bits_disjoint(all[i].bits, all[j].bits, search->passes, words)) {
                const struct column *pair[] = {&all[i], &all[j]};
                const struct shape shape = extended(prefix, pair, 2);
                search_emit(search, &shape);
            }
    }
    if (most > 2)
        search_beam(search, fails, prefix, count);
}

/* --- all together --- */

static void search_any(struct search *search)
{
    if (bits_count(search->passes, search->evidence->words) == 0)
        hypotheses_add(search->out, &(struct hypothesis){.cost = 1 + search->extra});
}

static double simplest(const struct search *search)
{
    return search->out->count ? search->out->item[0].cost - search->extra : HUGE_COST;
}

static void search_exact(struct search *search)
{
    const struct evidence *evidence = search->evidence;
    const uint64_t *fails = search->fails, *passes = search->passes;
    const struct shape empty = {0};
    search_any(search);
    if (bits_count(passes, evidence->words) == 0) {
        search_conjunctions(search, fails, &empty, 1, PAIR_WIDTH);
        return;
    }
    for (int most = 2; most <= 3; most++) {
        if (most > 2 && search->out->count > 0 && simplest(search) < COST_WORTH_MORE_TERMS)
            break;
        search_conjunctions(search, fails, &empty, most, PAIR_WIDTH);
        search->swapped = true;
        search->fails = passes;
        search->passes = fails;
        search_conjunctions(search, passes, &empty, most, PAIR_WIDTH);
        search->swapped = false;
        search->fails = fails;
        search->passes = passes;
    }
    if (simplest(search) > COST_WORTH_TWO_CLAUSES) {
        search_general(search);
        search_two_clauses(search);
    }
}

int search_open(struct search *search, const struct evidence *evidence, struct hypotheses *out)
{
    const size_t words = (size_t)evidence->words, quantities = (size_t)evidence->vocabulary->quantities;
    *search = (struct search){
        .evidence = evidence, .out = out, .fails = evidence->fails, .passes = evidence->passes};
    if (predicate_table_open(&search->table, evidence))
        return -1;
    const size_t columns = (size_t)search->table.count + 4 * quantities + 1;
    search->necessary = malloc(columns * sizeof *search->necessary);
    search->general = malloc(columns * sizeof *search->general);
    search->row = malloc((6 * quantities + 2) * words * sizeof *search->row);
    if (!search->necessary || !search->general || !search->row)
        return -1;
    search->general_row = search->row + 2 * quantities * words;
    search->rest = search->general_row + 4 * quantities * words;
    return 0;
}

void search_close(struct search *search)
{
    predicate_table_close(&search->table);
    free(search->necessary);
    free(search->general);
    free(search->row);
}

static int count_wrong(const struct evidence *evidence, const struct hypothesis *hypothesis, bool forgive)
{
    int wrong = 0;
    for (int t = 0; t < evidence->trials; t++)
        wrong += (!forgive || bit_of(evidence->unpublished, t)) && !bit_of(evidence->lucky, t) &&
                 hypothesis_holds_on(evidence, hypothesis, t) != bit_of(evidence->fails, t);
    return wrong;
}

int search_rules(const struct evidence *evidence, struct hypotheses *out)
{
    struct search search;
    int result = search_open(&search, evidence, out);
    out->count = 0;
    if (result == 0) {
        search_exact(&search);
        if (out->count == 0) { /* a kernel may have memorised the seen points: then they tell nothing */
            uint64_t *passes = search.rest + evidence->words;
            for (int i = 0; i < evidence->words; i++)
                passes[i] = evidence->passes[i] & evidence->unpublished[i];
            search.passes = passes;
            search.extra = COST_OF_PUBLISHED;
            search_exact(&search);
        }
        const bool exact = out->count > 0;
        if (!exact)
            search_approximate(&search);
        result =
            out->count ? count_wrong(evidence, &out->item[0], exact && search.extra > 0) : evidence->trials;
        result = search.no_memory ? -1 : result;
    }
    search_close(&search);
    return result;
}
