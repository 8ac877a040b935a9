/* Finds rules that are right on most trials, if none is right on all. All pairs of the most informative
 * predicates are tried. A third term may be any predicate that explains more trials than it costs. A fourth
 * term would only explain chance. */
#include "explain_search.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 200, BEST = 32 };
static const double COST_OF_WRONG = 8; /* bits for each trial that the rule gets wrong */

/* Predicates joined by `and`. */
struct conjunction {
    const struct column *column[MOST_ATOMS];
    int count;
    double cost;
};

struct approximating {
    struct search *search;
    struct conjunction best[BEST]; /* best pairs so far */
    int count;
    uint64_t *held; /* [words]: trials where the conjunction at hand holds */
};

static const struct atom *atom_of(const struct search *search, const struct column *column)
{
    return column->class ? &search->table.atom[column->class->first] : &column->atom;
}

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
    struct guess guess = {.count = conjunction->count, .cost = conjunction->cost};
    for (int i = 0; i < conjunction->count; i++) {
        guess.atom[i] = *atom_of(a->search, conjunction->column[i]);
        guess.starts[i] = either || i == 0;
    }
    guesses_add(a->search->out, &guess);
}

static int count_wrong(const struct search *search, const uint64_t *held)
{
    int wrong = 0;
    for (int w = 0; w < search->ex->words; w++)
        wrong += __builtin_popcountll((held[w] & search->passes[w]) | (search->fails[w] & ~held[w]));
    return wrong;
}

static void try_pair(struct approximating *a, const struct column *first, const struct column *second,
                     bool either)
{
    struct search *search = a->search;
    struct conjunction pair = {.column = {first, second}, .count = first == second ? 1 : 2};
    for (int w = 0; w < search->ex->words; w++)
        a->held[w] = either ? first->bits[w] | second->bits[w] : first->bits[w] & second->bits[w];
    pair.cost = count_wrong(search, a->held) * COST_OF_WRONG + atom_of(search, first)->cost;
    if (pair.count > 1)
        pair.cost += atom_of(search, second)->cost + TERM_COST + either;
    emit(a, &pair, either);
    if (pair.count > 1 && !either)
        keep(a, &pair);
}

/* Returns the length of a description in bits. It names the rule and, by number, passes inside it and
 * failures outside (explain_sided_search.c). If one run in sixteen passes by chance, naming a pass takes four
 * bits. So a term that explains two of them explains nothing. */
static double description(const struct search *search, const uint64_t *held, double terms)
{
    const int words = search->ex->words;
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
    const int words = search->ex->words;
    double terms = TERM_COST * from->count;
    memcpy(row, from->column[0]->bits, (size_t)words * sizeof *row);
    for (int i = 0; i < from->count; i++) {
        terms += atom_of(search, from->column[i])->cost;
        for (int w = 0; w < words; w++)
            row[w] &= from->column[i]->bits[w];
    }
    const double shorter = description(search, row, terms - TERM_COST);
    for (int i = 0; i < search->generals; i++) {
        const struct atom *atom = atom_of(search, &search->general[i]);
        struct conjunction longer = *from;
        if (atom_is_most_inputs(search->ex, atom))
            continue;
        longer.column[longer.count++] = &search->general[i];
        for (int w = 0; w < words; w++)
            a->held[w] = row[w] & search->general[i].bits[w];
        longer.cost = count_wrong(search, a->held) * COST_OF_WRONG + terms + atom->cost;
        if (longer.cost < from->cost && description(search, a->held, terms + atom->cost) < shorter)
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
    const struct explainer *ex = search->ex;
    struct approximating *a = calloc(1, sizeof *a);
    uint64_t *rows = malloc(2 * (size_t)ex->words * sizeof *rows);
    const struct guess any = {.cost = 1 + COST_OF_WRONG * bits_count(ex->passes, ex->words)};
    search->fails = ex->fails;
    search->passes = ex->passes;
    search_general(search);
    guesses_add(search->out, &any);
    if (a && rows) {
        a->search = search;
        a->held = rows;
        try_pairs(a);
        for (int i = 0; i < a->count; i++)
            lengthen(a, &a->best[i], rows + ex->words);
    } else {
        search->no_memory = true;
    }
    free(rows);
    free(a);
}
