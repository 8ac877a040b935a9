/* Finds simpler rules that only a few passes contradict. A rule that fits must be compared with them before
 * it is believed. */
#include "search_internal.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, MOST_AGAINST = 3 };
static const double CHEAPER = 1.5, COST_OF_PASS = 3;

struct rivalry {
    struct search *search;
    struct hypotheses *out;
    double most; /* highest cost of a rival */
    uint64_t *held;
};

static double plain_cost(const struct hypothesis *hypothesis)
{
    double cost = hypothesis->count == 0 ? 1 : 0;
    for (int i = 0; i < hypothesis->count; i++)
        cost += hypothesis->term[i].cost + (i ? TERM_COST + hypothesis->starts[i] : 0);
    return cost;
}

/* Returns the number of passes where the rival holds, if they are few. Returns 0 if it is no rival. */
static int passes_against(const struct rivalry *r, const uint64_t *held, const uint64_t *column)
{
    const struct evidence *evidence = r->search->evidence;
    int passes = 0;
    for (int w = 0; w < evidence->words; w++)
        passes += __builtin_popcountll((held ? held[w] & column[w] : column[w]) & evidence->passes[w]);
    return passes <= MOST_AGAINST ? passes : 0;
}

static void add(const struct rivalry *r, const struct hypothesis *rest, const struct predicate *predicate,
                int passes)
{
    struct hypothesis hypothesis = *rest;
    hypothesis.term[hypothesis.count] = *predicate;
    hypothesis.starts[hypothesis.count] = hypothesis.count == 0;
    hypothesis.count++;
    hypothesis.cost = plain_cost(&hypothesis) + COST_OF_PASS * passes;
    if (passes > 0 && hypothesis.cost < r->most)
        hypotheses_add(r->out, &hypothesis);
}

static void try_pairs(const struct rivalry *r, const struct column *column, int count)
{
    const struct search *search = r->search;
    for (int i = 0; i < count; i++) {
        const struct predicate *const first = column_predicate(search, &column[i]);
        const struct hypothesis rest = {.term = {*first}, .starts = {true}, .count = 1};
        for (int j = i + 1; j < count; j++)
            if (first->cost + column_predicate(search, &column[j])->cost + TERM_COST < r->most)
                add(r, &rest, column_predicate(search, &column[j]),
                    passes_against(r, column[i].bits, column[j].bits));
    }
}

/* Replaces one term of the leader by another. */
static void try_replacing(const struct rivalry *r, const struct hypothesis *leader,
                          const struct column *column, int count)
{
    const struct evidence *evidence = r->search->evidence;
    for (int at = 0; at < leader->count; at++) {
        struct hypothesis rest = *leader;
        hypothesis_remove_term(&rest, at);
        memset(r->held, 0, (size_t)evidence->words * sizeof *r->held);
        for (int t = 0; t < evidence->trials; t++)
            if (hypothesis_holds_on(evidence, &rest, t))
                bit_set(r->held, t);
        for (int i = 0; i < count; i++)
            add(r, &rest, column_predicate(r->search, &column[i]),
                passes_against(r, r->held, column[i].bits));
    }
}

static bool is_one_clause(const struct hypothesis *hypothesis)
{
    for (int i = 1; i < hypothesis->count; i++)
        if (hypothesis->starts[i])
            return false;
    return hypothesis->count > 0;
}

static int by_passes(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return x->passes != y->passes ? (x->passes > y->passes) - (x->passes < y->passes)
                                  : (x->cost > y->cost) - (x->cost < y->cost);
}

int search_rivals(const struct evidence *evidence, const struct hypothesis *leader, struct hypotheses *out)
{
    struct search search;
    int result = search_open(&search, evidence, out);
    uint64_t *const held = calloc((size_t)evidence->words, sizeof *held);
    out->count = 0;
    if (result == 0 && held) {
        const struct rivalry r = {&search, out, plain_cost(leader) - CHEAPER, held};
        const struct hypothesis empty = {.count = 0};
        const int count = search_necessary(&search, evidence->fails);
        qsort(search.necessary, (size_t)count, sizeof *search.necessary, by_passes);
        for (int i = 0; i < count; i++)
            add(&r, &empty, column_predicate(&search, &search.necessary[i]),
                passes_against(&r, NULL, search.necessary[i].bits));
        try_pairs(&r, search.necessary, count < WIDTH ? count : WIDTH);
        if (is_one_clause(leader))
            try_replacing(&r, leader, search.necessary, count);
    }
    free(held);
    search_close(&search);
    return result || !held ? -1 : 0;
}
