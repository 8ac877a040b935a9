/* Internals of the search: predicates grouped by their truth on the trials, and their combination. */
#ifndef UNSEEN_SEARCH_INTERNAL_H
#define UNSEEN_SEARCH_INTERNAL_H

#include "gen/draw/cost.h"
#include "search.h"

/* --- predicate_table.c --- */

enum { CLASS_PREDICATES = 64 };

/* Predicates that agree on every trial so far, the cheapest first. */
struct predicate_class {
    uint64_t *bits;
    int first; /* of a chain in table.link */
    double cost;
};

struct predicate_table {
    struct predicate_class *item;
    int count, capacity;
    struct predicate *predicate;
    int *link;
    int predicates, predicate_capacity;
    uint64_t *bits;
    int *slot;
    int slots;
    bool no_memory;
};

/* Fills the table with every predicate worth testing, except thresholds, which the search chooses. Returns 0,
 * or -1 when memory is out. */
int predicate_table_open(struct predicate_table *table, const struct evidence *evidence);
void predicate_table_close(struct predicate_table *table);

/* --- search.c --- */

/* The truth of one predicate on every trial. The predicate is one of a class of equal ones, or a
 * threshold. */
struct column {
    const uint64_t *bits;
    const struct predicate_class *class; /* NULL: it is `predicate` */
    struct predicate predicate;
    double cost, score;
    int passes;
};

/* A rule made of columns. */
struct shape {
    const struct column *column[MOST_TERMS];
    bool starts[MOST_TERMS];
    int count;
};

struct search {
    const struct evidence *evidence;
    struct predicate_table table;
    struct hypotheses *out;
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

/* Returns 0, or -1 when memory is out. Call search_close in either case. */
int search_open(struct search *search, const struct evidence *evidence, struct hypotheses *out);
void search_close(struct search *search);

/* Returns the predicate of the column, the cheapest one of a class. */
static inline const struct predicate *column_predicate(const struct search *search,
                                                       const struct column *column)
{
    return column->class ? &search->table.predicate[column->class->first] : &column->predicate;
}

/* Adds every rule of that shape. Each column stands for the cheapest predicates of its class. */
void search_emit(struct search *search, const struct shape *shape);

/* --- conjunctions.c --- */

/* Fills search->necessary with predicates that hold on all of `fails`, with the tightest thresholds possible.
 * Returns how many there are. */
int search_necessary(struct search *search, const uint64_t *fails);

/* Orders columns by their passes, then by their cost, for qsort. */
int columns_by_passes(const void *a, const void *b);

/* Finds conjunctions of at most `most` predicates that hold on all of `fails` and on none of search->passes.
 * With `most` 3, those of three and of four grow from shorter ones. Each is added to `prefix` (a clause, or
 * empty) as a clause of its own. Pairs are made of `width` columns. */
void search_conjunctions(struct search *search, const uint64_t *fails, const struct shape *prefix, int most,
                         int width);

/* --- one_sided_search.c --- */

/* Returns the bits that name a of a + b outcomes, and the number a itself: log2((a + b + 1) (a + b over a)).
 * The rule itself takes BITS_OF_COST bits for each unit of its cost; each further term adds TERM_COST
 * units. */
double bits_of_outcomes(int a, int b);
static const double BITS_OF_COST = 1.5, TERM_COST = 3;

/* --- general_search.c --- */

void search_general(struct search *search);     /* fills search->general */
void search_two_clauses(struct search *search); /* two overlapping faults */
void search_approximate(struct search *search); /* if no rule is right on every trial */

#endif
