/* Finds simpler rules that only a few passes contradict. A rule that fits must be compared with them before
 * it is believed. */
#include "explain_search.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, MOST_AGAINST = 3, TESTED_AT_ONCE = 6, PICKS = 2 };
static const double CHEAPER = 1.5, COST_OF_PASS = 3, LEAST_SPLIT = 0.001;

struct rivalry {
    struct search *search;
    struct guesses *out;
    double most; /* highest cost of a rival */
    uint64_t *held;
};

double guess_plain_cost(const struct guess *guess)
{
    double cost = guess->count == 0 ? 1 : 0;
    for (int i = 0; i < guess->count; i++)
        cost += guess->atom[i].cost + (i ? TERM_COST + guess->starts[i] : 0);
    return cost;
}

static const struct atom *atom_of(const struct search *search, const struct column *column)
{
    return column->class ? &search->table.atom[column->class->first] : &column->atom;
}

/* Returns the number of passes where the rival holds, if they are few. Returns 0 if it is no rival. */
static int passes_against(const struct rivalry *r, const uint64_t *held, const uint64_t *column)
{
    const struct explainer *ex = r->search->ex;
    int passes = 0;
    for (int w = 0; w < ex->words; w++)
        passes += __builtin_popcountll((held ? held[w] & column[w] : column[w]) & ex->passes[w]);
    return passes <= MOST_AGAINST ? passes : 0;
}

static void add(const struct rivalry *r, const struct guess *rest, const struct atom *atom, int passes)
{
    struct guess guess = *rest;
    guess.atom[guess.count] = *atom;
    guess.starts[guess.count] = guess.count == 0;
    guess.count++;
    guess.cost = guess_plain_cost(&guess) + COST_OF_PASS * passes;
    if (passes > 0 && guess.cost < r->most)
        guesses_add(r->out, &guess);
}

static void try_pairs(const struct rivalry *r, const struct column *column, int count)
{
    const struct search *search = r->search;
    for (int i = 0; i < count; i++) {
        const struct atom *const first = atom_of(search, &column[i]);
        const struct guess rest = {.atom = {*first}, .starts = {true}, .count = 1};
        for (int j = i + 1; j < count; j++)
            if (first->cost + atom_of(search, &column[j])->cost + TERM_COST < r->most)
                add(r, &rest, atom_of(search, &column[j]), passes_against(r, column[i].bits, column[j].bits));
    }
}

/* Replaces one term of the leader by another. */
static void try_replacing(const struct rivalry *r, const struct guess *leader, const struct column *column,
                          int count)
{
    const struct explainer *ex = r->search->ex;
    for (int at = 0; at < leader->count; at++) {
        struct guess rest = *leader;
        guess_remove(&rest, at);
        memset(r->held, 0, (size_t)ex->words * sizeof *r->held);
        for (int t = 0; t < ex->trials; t++)
            if (guess_holds(ex, &rest, trial_values(ex, t)))
                bit_set(r->held, t);
        for (int i = 0; i < count; i++)
            add(r, &rest, atom_of(r->search, &column[i]), passes_against(r, r->held, column[i].bits));
    }
}

static bool is_one_clause(const struct guess *guess)
{
    for (int i = 1; i < guess->count; i++)
        if (guess->starts[i])
            return false;
    return guess->count > 0;
}

static int by_passes(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return x->passes != y->passes ? (x->passes > y->passes) - (x->passes < y->passes)
                                  : (x->cost > y->cost) - (x->cost < y->cost);
}

int search_rivals(const struct explainer *ex, const struct guess *leader, struct guesses *out)
{
    struct search search;
    int result = search_open(&search, ex, out);
    uint64_t *const held = calloc((size_t)ex->words, sizeof *held);
    out->count = 0;
    if (result == 0 && held) {
        const struct rivalry r = {&search, out, guess_plain_cost(leader) - CHEAPER, held};
        const struct guess empty = {.count = 0};
        const int count = search_necessary(&search, ex->fails);
        qsort(search.necessary, (size_t)count, sizeof *search.necessary, by_passes);
        for (int i = 0; i < count; i++)
            add(&r, &empty, atom_of(&search, &search.necessary[i]),
                passes_against(&r, NULL, search.necessary[i].bits));
        try_pairs(&r, search.necessary, count < WIDTH ? count : WIDTH);
        if (is_one_clause(leader))
            try_replacing(&r, leader, search.necessary, count);
    }
    free(held);
    search_close(&search);
    return result || !held ? -1 : 0;
}

bool rivals_test(struct explainer *ex, const struct guess *leader, const struct guesses *rivals,
                 struct config *out)
{
    static struct guesses apart; /* too large for a stack */
    apart.count = 1;
    apart.item[0] = *leader;
    apart.item[0].alive = true;
    for (int i = 0; i < rivals->count && i < TESTED_AT_ONCE; i++) {
        apart.item[apart.count] = rivals->item[i];
        apart.item[apart.count++].cost = leader->cost; /* all have equal weight */
    }
    for (int i = 0; i < PICKS && apart.count > 1; i++)
        if (query_pick(ex, &apart, LEAST_SPLIT, out))
            return true;
    return false;
}
