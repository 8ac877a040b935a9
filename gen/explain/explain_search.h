/* Inside of the search for rules: columns of truth, and how they are put together. */
#ifndef UNSEEN_EXPLAIN_SEARCH_H
#define UNSEEN_EXPLAIN_SEARCH_H

#include "explain_internal.h"

/* What one atom says of every trial: one of a class of equal ones, or a threshold. */
struct column {
    const uint64_t *bits;
    const struct atom_class *class; /* NULL: `atom` */
    struct atom atom;
    double cost, score;
    int passes;
};

/* A rule made of columns. */
struct shape {
    const struct column *column[MOST_ATOMS];
    bool starts[MOST_ATOMS];
    int count;
};

struct search {
    const struct explainer *ex;
    struct table table;
    struct guesses *out;
    const uint64_t *fails, *passes; /* what must be told apart */
    bool swapped;                   /* fails and passes are: what is found is negated */
    double extra;                   /* added to the cost of every rule found: it gets some trials wrong */
    struct column *necessary, *general;
    int generals;
    uint64_t *row;         /* thresholds of the necessary columns: [2 * quantities, words] */
    uint64_t *general_row; /* of the general ones: [4 * quantities, words] */
    uint64_t *rest;        /* [2, words] */
    bool no_memory;
};

/* --- bits --- */
static inline int bits_count(const uint64_t *bits, int words)
{
    int count = 0;
    for (int i = 0; i < words; i++)
        count += __builtin_popcountll(bits[i]);
    return count;
}

static inline int bits_count_and(const uint64_t *a, const uint64_t *b, int words)
{
    int count = 0;
    for (int i = 0; i < words; i++)
        count += __builtin_popcountll(a[i] & b[i]);
    return count;
}

static inline bool bits_cover(const uint64_t *outer, const uint64_t *inner, int words)
{
    for (int i = 0; i < words; i++)
        if (inner[i] & ~outer[i])
            return false;
    return true;
}

static inline bool bits_disjoint(const uint64_t *a, const uint64_t *b, const uint64_t *c, int words)
{
    for (int i = 0; i < words; i++)
        if (a[i] & b[i] & c[i])
            return false;
    return true;
}

/* -1: no memory. search_close in any case. */
int search_open(struct search *search, const struct explainer *ex, struct guesses *out);
void search_close(struct search *search);

/* Fills search->necessary with what holds on all of `fails`, thresholds as tight as they can be; returns how many. */
int search_necessary(struct search *search, const uint64_t *fails);

/* Adds every rule of that shape, each column standing for the cheapest atoms of its class. */
void search_emit(struct search *search, const struct shape *shape);

/* Conjunctions of at most `most` atoms (with 3 those of four, too, that search_beam finds) that hold on all of `fails` and none of
 * search->passes, each added to `prefix` (a clause, or empty) as a clause of its own. `width`: of how many columns pairs are
 * made. */
void search_conjunctions(struct search *search, const uint64_t *fails, const struct shape *prefix, int most,
                         int width);

/* --- explain_beam.c --- */

/* Those of three and four atoms among the first `columns` of search->necessary, which hold on all of `fails`: grown from the
 * best shorter ones. */
void search_beam(struct search *search, const uint64_t *fails, const struct shape *prefix, int columns);

/* --- explain_sided_search.c --- */

/* Bits that name which of a + b outcomes are the a, and a itself: log2((a + b + 1) (a + b over a)). A rule's own bits are so many
 * for each of its cost, to which a further term adds TERM_COST. */
double bits_of_outcomes(int a, int b);
static const double BITS_OF_COST = 1.5, TERM_COST = 3;

/* --- explain_cover.c: where one clause does not do --- */

void search_general(struct search *search); /* fills search->general */
void search_two_clauses(struct search *search);

/* --- explain_approximate.c: where no rule is right on every trial --- */

void search_approximate(struct search *search);

#endif
