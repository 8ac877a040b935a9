/* Internals of the search for rules: the truth of predicates on the trials, and their combination. */
#ifndef UNSEEN_EXPLAIN_SEARCH_H
#define UNSEEN_EXPLAIN_SEARCH_H

#include "explain_internal.h"

/* The truth of one predicate on every trial. The predicate is one of a class of equal ones, or a
 * threshold. */
struct column {
    const uint64_t *bits;
    const struct atom_class *class; /* NULL: the predicate is `atom` */
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
    const uint64_t *fails, *passes; /* the trials to be separated */
    bool swapped;                   /* fails and passes are exchanged, and rules found are negated */
    double extra;                   /* cost added to every rule found, since it gets some trials wrong */
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

/* Returns 0, or -1 when memory is out. Call search_close in either case. */
int search_open(struct search *search, const struct explainer *ex, struct guesses *out);
void search_close(struct search *search);

/* Fills search->necessary with predicates that hold on all of `fails`, with the tightest thresholds possible.
 * Returns how many there are. */
int search_necessary(struct search *search, const uint64_t *fails);

/* Adds every rule of that shape. Each column stands for the cheapest predicates of its class. */
void search_emit(struct search *search, const struct shape *shape);

/* Finds conjunctions of at most `most` predicates that hold on all of `fails` and on none of search->passes.
 * With `most` 3 it adds conjunctions of four that search_beam finds. Each is added to `prefix` (a clause, or
 * empty) as a clause of its own. Pairs are made of `width` columns. */
void search_conjunctions(struct search *search, const uint64_t *fails, const struct shape *prefix, int most,
                         int width);

/* --- explain_beam.c --- */

/* Finds conjunctions of three and four predicates that hold on all of `fails`, among the first `columns` of
 * search->necessary. They grow from the best shorter ones. */
void search_beam(struct search *search, const uint64_t *fails, const struct shape *prefix, int columns);

/* --- explain_sided_search.c --- */

/* Returns the bits that name a of a + b outcomes, and the number a itself: log2((a + b + 1) (a + b over a)).
 * The rule itself takes BITS_OF_COST bits for each unit of its cost; each further term adds TERM_COST
 * units. */
double bits_of_outcomes(int a, int b);
static const double BITS_OF_COST = 1.5, TERM_COST = 3;

/* --- explain_cover.c: rules of two clauses --- */

void search_general(struct search *search); /* fills search->general */
void search_two_clauses(struct search *search);

/* --- explain_approximate.c: where no rule is right on every trial --- */

void search_approximate(struct search *search);

#endif
