/* Finds the most informative predicates, and rules of two clauses for two overlapping faults. */
#include "explain_search.h"

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
        const int64_t cut = roundest(point[i].value, point[i + 1].value - 1);
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
    const struct explainer *ex = search->ex;
    const int index = search->generals - search->table.count;
    uint64_t *row = search->general_row + (size_t)index * (size_t)ex->words;
    struct column *column = &search->general[search->generals++];
    *column = (struct column){.bits = row, .cost = 2.5 + ex->quantity[q].cost};
    column->atom = (struct atom){.quantity = q, .kind = ATOM_ABOVE, .negated = below, .a = threshold};
    column->atom.cost = atom_cost(&column->atom, &ex->quantity[q], ex->space);
    memset(row, 0, (size_t)ex->words * sizeof *row);
    for (int t = 0; t < ex->trials; t++)
        row[t / 64] |= (uint64_t)((trial_values(ex, t)[q] > threshold) != below) << t % 64;
}

static void add_cuts(struct search *search, struct point *point, int fails, int passes)
{
    const struct explainer *ex = search->ex;
    for (int q = 0; q < ex->quantities; q++) {
        struct cuts cuts;
        int count = 0;
        if (!quantity_has_thresholds(&ex->quantity[q]))
            continue;
        for (int t = 0; t < ex->trials; t++)
            if (bit_of(search->fails, t) || bit_of(search->passes, t))
                point[count++] = (struct point){trial_values(ex, t)[q], bit_of(search->fails, t)};
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
    const struct explainer *ex = search->ex;
    const int fails = bits_count(search->fails, ex->words);
    const int passes = bits_count(search->passes, ex->words);
    struct point *point = malloc((size_t)ex->trials * sizeof *point);
    search->generals = 0;
    search->no_memory = search->no_memory || !point;
    if (!point)
        return;
    for (int i = 0; i < search->table.count; i++) {
        const struct atom_class *class = &search->table.item[i];
        search->general[search->generals++] =
            (struct column){.bits = class->bits, .class = class, .cost = class->cost};
    }
    add_cuts(search, point, fails, passes);
    for (int i = 0; i < search->generals; i++) {
        struct column *column = &search->general[i];
        const int wrong = bits_count_and(column->bits, search->passes, ex->words);
        const int right = bits_count_and(column->bits, search->fails, ex->words);
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
    for (int w = 0; w < search->ex->words; w++)
        covered += __builtin_popcountll(a->bits[w] & b->bits[w] & search->fails[w]);
    return covered ? __builtin_log2(covered) * 3 - a->cost - (a == b ? 0 : b->cost) : -HUGE_COST;
}

/* Lists clauses that hold on some failures and on no pass. */
static int first_clauses(const struct search *search, struct clause *list)
{
    const int words = search->ex->words;
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
    const int words = search->ex->words;
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
