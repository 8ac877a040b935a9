/* Searches conjunctions of three and four predicates that separate failures from passes exactly. There are
 * too many to try all of them, so they grow from the best shorter ones. A partial conjunction is scored by
 * the length of its description (one_sided_search.c): its own length and that of the passes left inside
 * it. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

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

void search_beam(struct search *search, const uint64_t *fails, const struct shape *prefix, int columns)
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
