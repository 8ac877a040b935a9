/* Searches among the most informative predicates, which need not hold on every failure. Rules of two clauses
 * describe two overlapping faults. If no rule is right on every trial, rules that are right on most are
 * found. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

enum { GENERAL_WIDTH = 300, FIRST_CLAUSES = 80, SECOND_WIDTH = 150 };

/* --- thresholds that divide best --- */

struct point {
    int64_t value;
    bool fails;
};

static int by_value(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

struct cuts {
    /* above, and at or below: the cut where the rates differ most; the cut where nothing passes */
    int64_t best[2], pure[2];
    bool has_pure[2];
};

/* Finds the cuts of sorted points. `above` counts points above the cut that follows point i. */
static void find_cuts(const struct point *point, int count, int fails, int passes, struct cuts *cuts)
{
    double best[2] = {-2, -2};
    int fails_above = fails, passes_above = passes;
    *cuts = (struct cuts){.has_pure = {false, false}};
    for (int i = 0; i + 1 < count; i++) {
        fails_above -= point[i].fails;
        passes_above -= !point[i].fails;
        if (point[i].value == point[i + 1].value)
            continue;
        const double above = (double)fails_above / fails - (double)passes_above / passes;
        const int64_t cut = roundest_between(point[i].value, point[i + 1].value - 1);
        for (int side = 0; side < 2; side++)
            if ((side ? -above : above) > best[side]) {
                best[side] = side ? -above : above;
                cuts->best[side] = cut;
            }
        if (passes_above == 0 && fails_above > 0 && !cuts->has_pure[0]) {
            cuts->pure[0] = cut;
            cuts->has_pure[0] = true;
        }
        if (passes_above == passes && fails_above < fails) {
            cuts->pure[1] = cut;
            cuts->has_pure[1] = true;
        }
    }
}

static void add_threshold(struct search *search, int q, bool below, int64_t threshold)
{
    const struct evidence *evidence = search->evidence;
    const int index = search->generals - search->table.count;
    uint64_t *row = search->general_row + (size_t)index * (size_t)evidence->words;
    struct column *column = &search->general[search->generals++];
    *column = (struct column){.bits = row, .cost = 2.5 + quantity_of(evidence, q)->cost};
    column->predicate =
        (struct predicate){.quantity = q, .kind = PREDICATE_ABOVE, .negated = below, .a = threshold};
    column->predicate.cost = vocabulary_cost(evidence->vocabulary, &column->predicate);
    memset(row, 0, (size_t)evidence->words * sizeof *row);
    for (int t = 0; t < evidence->trials; t++)
        row[t / 64] |= (uint64_t)((trial_values(evidence, t)[q] > threshold) != below) << t % 64;
}

static void add_cuts(struct search *search, struct point *point, int fails, int passes)
{
    const struct evidence *evidence = search->evidence;
    for (int q = 0; q < evidence->vocabulary->quantities; q++) {
        struct cuts cuts;
        int count = 0;
        if (!quantity_has_thresholds(quantity_of(evidence, q)))
            continue;
        for (int t = 0; t < evidence->trials; t++)
            if (bit_of(search->fails, t) || bit_of(search->passes, t))
                point[count++] = (struct point){trial_values(evidence, t)[q], bit_of(search->fails, t)};
        qsort(point, (size_t)count, sizeof *point, by_value);
        find_cuts(point, count, fails, passes, &cuts);
        for (int side = 0; side < 2; side++) {
            add_threshold(search, q, side, cuts.best[side]);
            if (cuts.has_pure[side] && cuts.pure[side] != cuts.best[side])
                add_threshold(search, q, side, cuts.pure[side]);
        }
    }
}

/* --- the columns that tell most --- */

static int by_score(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

void search_general(struct search *search)
{
    const struct evidence *evidence = search->evidence;
    const int fails = bits_count(search->fails, evidence->words);
    const int passes = bits_count(search->passes, evidence->words);
    struct point *point = malloc((size_t)evidence->trials * sizeof *point);
    search->generals = 0;
    search->no_memory = search->no_memory || !point;
    if (!point)
        return;
    for (int i = 0; i < search->table.count; i++) {
        const struct predicate_class *class = &search->table.item[i];
        search->general[search->generals++] =
            (struct column){.bits = class->bits, .class = class, .cost = class->cost};
    }
    add_cuts(search, point, fails, passes);
    for (int i = 0; i < search->generals; i++) {
        struct column *column = &search->general[i];
        const int wrong = bits_count_and(column->bits, search->passes, evidence->words);
        const int right = bits_count_and(column->bits, search->fails, evidence->words);
        column->passes = wrong;
        column->score = (double)right / fails - (double)wrong / passes - column->cost / 200;
    }
    qsort(search->general, (size_t)search->generals, sizeof *search->general, by_score);
    free(point);
}

/* --- two clauses --- */

struct clause {
    struct shape shape;
    double score;
};

static void keep_clause(struct clause *list, int *count, const struct clause *clause)
{
    int at = *count;
    if (at == FIRST_CLAUSES && clause->score <= list[at - 1].score)
        return;
    while (at > 0 && list[at - 1].score < clause->score)
        at--;
    if (*count < FIRST_CLAUSES)
        (*count)++;
    memmove(&list[at + 1], &list[at], (size_t)(*count - 1 - at) * sizeof *list);
    list[at] = *clause;
}

/* Returns the score of a clause: the number of failures where both columns hold, on a logarithmic scale, less
 * their costs. */
static double clause_score(const struct search *search, const struct column *a, const struct column *b)
{
    int covered = 0;
    for (int w = 0; w < search->evidence->words; w++)
        covered += __builtin_popcountll(a->bits[w] & b->bits[w] & search->fails[w]);
    return covered ? __builtin_log2(covered) * 3 - a->cost - (a == b ? 0 : b->cost) : -HUGE_COST;
}

/* Lists clauses that hold on some failures and on no pass. */
static int first_clauses(const struct search *search, struct clause *list)
{
    const int words = search->evidence->words;
    const int width = search->generals < GENERAL_WIDTH ? search->generals : GENERAL_WIDTH;
    int count = 0;
    for (int i = 0; i < search->generals; i++) {
        const struct column *a = &search->general[i];
        if (a->passes == 0) {
            const struct clause clause = {{.column = {a}, .starts = {true}, .count = 1},
                                          clause_score(search, a, a)};
            keep_clause(list, &count, &clause);
        }
        for (int j = i + 1; i < width && a->passes > 0 && j < width; j++) {
            const struct column *b = &search->general[j];
            if (b->passes > 0 && bits_disjoint(a->bits, b->bits, search->passes, words)) {
                const struct clause clause = {{.column = {a, b}, .starts = {true}, .count = 2},
                                              clause_score(search, a, b)};
                keep_clause(list, &count, &clause);
            }
        }
    }
    return count;
}

void search_two_clauses(struct search *search)
{
    const int words = search->evidence->words;
    struct clause list[FIRST_CLAUSES];
    const int count = first_clauses(search, list);
    for (int i = 0; i < count; i++) {
        const struct shape *shape = &list[i].shape;
        int left = 0;
        for (int w = 0; w < words; w++) {
            uint64_t held = search->fails[w];
            for (int c = 0; c < shape->count; c++)
                held &= shape->column[c]->bits[w];
            search->rest[w] = search->fails[w] & ~held;
            left += search->rest[w] != 0;
        }
        if (left > 0 && list[i].score > -HUGE_COST)
            search_conjunctions(search, search->rest, shape, 2, SECOND_WIDTH);
    }
}

/* --- rules that are right on most trials --- */

enum { WIDTH = 200, BEST = 32 };
static const double COST_OF_WRONG = 8; /* bits for each trial that the rule gets wrong */

/* Predicates joined by `and`. */
struct conjunction {
    const struct column *column[MOST_TERMS];
    int count;
    double cost;
};

struct approximating {
    struct search *search;
    struct conjunction best[BEST]; /* best pairs so far */
    int count;
    uint64_t *held; /* [words]: trials where the conjunction at hand holds */
};

static void keep(struct approximating *a, const struct conjunction *conjunction)
{
    int at = a->count;
    if (at == BEST && conjunction->cost >= a->best[at - 1].cost)
        return;
    at = at < BEST ? a->count++ : BEST - 1;
    for (; at > 0 && a->best[at - 1].cost > conjunction->cost; at--)
        a->best[at] = a->best[at - 1];
    a->best[at] = *conjunction;
}

static void emit(const struct approximating *a, const struct conjunction *conjunction, bool either)
{
    struct hypothesis hypothesis = {.count = conjunction->count, .cost = conjunction->cost};
    for (int i = 0; i < conjunction->count; i++) {
        hypothesis.term[i] = *column_predicate(a->search, conjunction->column[i]);
        hypothesis.starts[i] = either || i == 0;
    }
    hypotheses_add(a->search->out, &hypothesis);
}

static int count_wrong(const struct search *search, const uint64_t *held)
{
    int wrong = 0;
    for (int w = 0; w < search->evidence->words; w++)
        wrong += __builtin_popcountll((held[w] & search->passes[w]) | (search->fails[w] & ~held[w]));
    return wrong;
}

static void try_pair(struct approximating *a, const struct column *first, const struct column *second,
                     bool either)
{
    struct search *search = a->search;
    struct conjunction pair = {.column = {first, second}, .count = first == second ? 1 : 2};
    for (int w = 0; w < search->evidence->words; w++)
        a->held[w] = either ? first->bits[w] | second->bits[w] : first->bits[w] & second->bits[w];
    pair.cost = count_wrong(search, a->held) * COST_OF_WRONG + column_predicate(search, first)->cost;
    if (pair.count > 1)
        pair.cost += column_predicate(search, second)->cost + TERM_COST + either;
    emit(a, &pair, either);
    if (pair.count > 1 && !either)
        keep(a, &pair);
}

/* Returns the length of a description in bits. It names the rule and, by number, passes inside it and
 * failures outside (one_sided_search.c). If one run in sixteen passes by chance, naming a pass takes four
 * bits. So a term that explains two of them explains nothing. */
static double description(const struct search *search, const uint64_t *held, double terms)
{
    const int words = search->evidence->words;
    const int fails = bits_count(search->fails, words), passes = bits_count(search->passes, words);
    const int fails_in = bits_count_and(held, search->fails, words);
    const int passes_in = bits_count_and(held, search->passes, words);
    return BITS_OF_COST * terms + bits_of_outcomes(fails_in, passes_in) +
           bits_of_outcomes(fails - fails_in, passes - passes_in);
}

/* Adds one more term if it is worth its cost. */
static void lengthen(struct approximating *a, const struct conjunction *from, uint64_t *row)
{
    struct search *search = a->search;
    const int words = search->evidence->words;
    double terms = TERM_COST * from->count;
    memcpy(row, from->column[0]->bits, (size_t)words * sizeof *row);
    for (int i = 0; i < from->count; i++) {
        terms += column_predicate(search, from->column[i])->cost;
        for (int w = 0; w < words; w++)
            row[w] &= from->column[i]->bits[w];
    }
    const double shorter = description(search, row, terms - TERM_COST);
    for (int i = 0; i < search->generals; i++) {
        const struct predicate *predicate = column_predicate(search, &search->general[i]);
        struct conjunction longer = *from;
        if (predicate_is_most_inputs(search->evidence->vocabulary, predicate))
            continue;
        longer.column[longer.count++] = &search->general[i];
        for (int w = 0; w < words; w++)
            a->held[w] = row[w] & search->general[i].bits[w];
        longer.cost = count_wrong(search, a->held) * COST_OF_WRONG + terms + predicate->cost;
        if (longer.cost < from->cost && description(search, a->held, terms + predicate->cost) < shorter)
            emit(a, &longer, false);
    }
}

static void try_pairs(struct approximating *a)
{
    const struct search *search = a->search;
    const int width = search->generals < WIDTH ? search->generals : WIDTH;
    for (int i = 0; i < width; i++)
        for (int j = i; j < width; j++) {
            try_pair(a, &search->general[i], &search->general[j], false);
            if (i != j)
                try_pair(a, &search->general[i], &search->general[j], true);
        }
}

void search_approximate(struct search *search)
{
    const struct evidence *evidence = search->evidence;
    struct approximating *a = calloc(1, sizeof *a);
    uint64_t *rows = malloc(2 * (size_t)evidence->words * sizeof *rows);
    const struct hypothesis any = {.cost = 1 + COST_OF_WRONG * bits_count(evidence->passes, evidence->words)};
    search->fails = evidence->fails;
    search->passes = evidence->passes;
    search_general(search);
    hypotheses_add(search->out, &any);
    if (a && rows) {
        a->search = search;
        a->held = rows;
        try_pairs(a);
        for (int i = 0; i < a->count; i++)
            lengthen(a, &a->best[i], rows + evidence->words);
    } else {
        search->no_memory = true;
    }
    free(rows);
    free(a);
}
