/* Searches conjunctions that hold on every failure and on no pass. Their predicates hold on every failure,
 * too ("necessary"). These are few, so all their pairs can be tried. There are too many conjunctions of three
 * and four, so they grow from the best shorter ones. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- necessary columns --- */

int columns_by_passes(const void *a, const void *b)
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
    qsort(column, (size_t)count, sizeof *column, columns_by_passes);
    if (count <= width)
        return count;
    qsort(column + width / 2, (size_t)(count - width / 2), sizeof *column, by_cost);
    qsort(column, (size_t)width, sizeof *column, columns_by_passes);
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

/* --- three and four predicates --- */

/* A partial conjunction is scored by the length of its description (one_sided_search.c): its own length and
 * that of the passes left inside it. */
enum { BEAM = 48 };

/* A conjunction that still has passes inside. */
struct partial {
    int column[MOST_TERMS]; /* indices of columns, ascending */
    int count;
    double cost, score;
    uint64_t *left; /* [words]: the passes inside */
};

struct beam {
    struct search *search;
    const struct shape *prefix;
    int columns;
    double *left_bits; /* [passes + 1]: bits that describe the outcomes with so many passes left */
    uint64_t *rows;    /* [2 * BEAM + 1, words] */
    struct partial now[BEAM], next[BEAM];
    int count, next_count;
};

static bool is_same(const struct partial *a, const struct partial *b)
{
    return a->count == b->count && memcmp(a->column, b->column, (size_t)a->count * sizeof *a->column) == 0;
}

/* Adds the conjunction to the next generation if it is among the best. `left` is copied. */
static void keep(struct beam *beam, const struct partial *partial, const uint64_t *left)
{
    int at = beam->next_count;
    if (at == BEAM && partial->score >= beam->next[at - 1].score)
        return;
    for (int i = 0; i < beam->next_count; i++)
        if (is_same(&beam->next[i], partial))
            return;
    if (at < BEAM)
        beam->next_count++;
    else
        at--;
    uint64_t *const row = beam->next[at].left;
    for (; at > 0 && beam->next[at - 1].score > partial->score; at--)
        beam->next[at] = beam->next[at - 1];
    beam->next[at] = *partial;
    beam->next[at].left = row;
    memcpy(row, left, (size_t)beam->search->evidence->words * sizeof *row);
}

/* Inserts the column. Returns false if it is there already. */
static bool insert(struct partial *partial, int column)
{
    int at = partial->count;
    for (int i = 0; i < partial->count; i++)
        if (partial->column[i] == column)
            return false;
    for (; at > 0 && partial->column[at - 1] > column; at--)
        partial->column[at] = partial->column[at - 1];
    partial->column[at] = column;
    partial->count++;
    return true;
}

/* Returns whether every predicate excludes passes that no other excludes. A rule with a superfluous term
 * would cost queries in vain. */
static bool is_minimal(const struct beam *beam, const struct partial *partial)
{
    const struct search *search = beam->search;
    const int words = search->evidence->words;
    uint64_t *const left = search->evidence->scratch;
    for (int without = 0; without < partial->count; without++) {
        memcpy(left, search->passes, (size_t)words * sizeof *left);
        for (int i = 0; i < partial->count; i++)
            for (int w = 0; i != without && w < words; w++)
                left[w] &= search->necessary[partial->column[i]].bits[w];
        if (bits_count(left, words) == 0)
            return false;
    }
    return true;
}

static void emit(struct beam *beam, const struct partial *partial)
{
    struct shape shape = *beam->prefix;
    for (int i = 0; i < partial->count; i++) {
        shape.starts[shape.count] = i == 0;
        shape.column[shape.count++] = &beam->search->necessary[partial->column[i]];
    }
    search_emit(beam->search, &shape);
}

static void extend(struct beam *beam, const struct partial *from, int column)
{
    const struct search *search = beam->search;
    const struct column *by = &search->necessary[column];
    const int words = search->evidence->words, before = bits_count(from->left, words);
    uint64_t *const left = beam->rows + (size_t)(2 * BEAM) * (size_t)words;
    struct partial partial = *from;
    int passes = 0;
    if (!insert(&partial, column))
        return;
    for (int w = 0; w < words; w++) {
        left[w] = from->left[w] & by->bits[w];
        passes += __builtin_popcountll(left[w]);
    }
    if (passes == before)
        return;
    partial.cost += by->cost + (from->count > 0 ? TERM_COST : 0);
    partial.score = BITS_OF_COST * partial.cost + beam->left_bits[passes];
    if (passes > 0)
        keep(beam, &partial, left);
    else if (partial.count > 2 && is_minimal(beam, &partial)) /* shorter ones have all been tried */
        emit(beam, &partial);
}

static void generation(struct beam *beam)
{
    beam->next_count = 0;
    for (int i = 0; i < beam->count; i++)
        for (int j = 0; j < beam->columns; j++)
            extend(beam, &beam->now[i], j);
    for (int i = 0; i < BEAM; i++) {
        const struct partial swapped = beam->now[i];
        beam->now[i] = beam->next[i];
        beam->next[i] = swapped;
    }
    beam->count = beam->next_count;
}

static int beam_open(struct beam *beam, struct search *search, const uint64_t *fails)
{
    const int words = search->evidence->words, passes = bits_count(search->passes, words);
    const int failing = bits_count(fails, words);
    beam->search = search;
    beam->left_bits = malloc(((size_t)passes + 1) * sizeof *beam->left_bits);
    beam->rows = malloc((size_t)(2 * BEAM + 1) * (size_t)words * sizeof *beam->rows);
    if (!beam->left_bits || !beam->rows)
        return -1;
    for (int left = 0; left <= passes; left++)
        beam->left_bits[left] = bits_of_outcomes(failing, left) + bits_of_outcomes(0, passes - left);
    for (int i = 0; i < BEAM; i++) {
        beam->now[i].left = beam->rows + (size_t)i * (size_t)words;
        beam->next[i].left = beam->rows + (size_t)(BEAM + i) * (size_t)words;
    }
    beam->count = 1; /* the empty conjunction */
    memcpy(beam->now[0].left, search->passes, (size_t)words * sizeof *beam->rows);
    return 0;
}

static void search_beam(struct search *search, const uint64_t *fails, const struct shape *prefix, int columns)
{
    struct beam *const beam = calloc(1, sizeof *beam);
    if (beam && beam_open(beam, search, fails) == 0) {
        beam->prefix = prefix;
        beam->columns = columns;
        for (int terms = prefix->count; terms < MOST_TERMS; terms++)
            generation(beam);
    } else {
        search->no_memory = true;
    }
    if (beam) {
        free(beam->left_bits);
        free(beam->rows);
    }
    free(beam);
}

/* --- all together --- */

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
