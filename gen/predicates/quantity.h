/* Whole numbers that a kernel may branch on: axes, products, quotients, tile counts, derived sizes. A
 * vocabulary lists those of one contract. Costs are in bits, roughly. Of two rules that fit equally well, a
 * programmer is likelier to have written the cheaper one. */
#ifndef UNSEEN_QUANTITY_H
#define UNSEEN_QUANTITY_H

#include "gen/contract/space.h"

enum {
    MOST_FACTORS = 4, /* axes of a product */
    /* axes that one depends on: a product of two derived sizes depends on the axes of both */
    QUANTITY_AXES = 24,
    MOST_DERIVED = 16,      /* derived sizes of one problem that are considered */
    MOST_QUANTITIES = 4096, /* more than PROBLEM_MAX_AXES ranges make, with tile sizes of 2^1..2^10 */
    MOST_VALUES = 16        /* listed values of one quantity */
};

enum quantity_kind {
    QUANTITY_PRODUCT,   /* of one axis (the axis itself) to four */
    QUANTITY_RATIO,     /* axis[0] / axis[1] */
    QUANTITY_REMAINDER, /* axis[0] % axis[1] */
    QUANTITY_CEILING,   /* axis[0] / axis[1], rounded up */
    QUANTITY_TILES,     /* axis[0] / tile, rounded up */
    QUANTITY_OFFSET,    /* (axis[0] - 1) * axis[1]: the offset where the last row begins */
    QUANTITY_ORDER,     /* order of axis[0] and axis[1]: ORDER_LESS, ORDER_SAME or ORDER_MORE */
    QUANTITY_GCD,       /* greatest common divisor of axis[0] and axis[1] */
    QUANTITY_DERIVED,   /* a derived size of the problem, which depends on the axes and the seed */
    /* order of a derived size and axis `against` or derived size `second`, as in QUANTITY_ORDER */
    QUANTITY_SIZE_ORDER,
    QUANTITY_SIZE_PRODUCT,  /* product of a derived size, the derived size `second` and axis `against` */
    QUANTITY_SIZE_OFFSET,   /* (axis `against` - 1) * a derived size: the offset of the last row */
    QUANTITY_TILED_PRODUCT, /* axis[1] * (axis[0] / tile, rounded up): rows padded to whole tiles */
    QUANTITY_GRID,          /* tiles of axis[0] times tiles of axis[1] of `other_tile`: blocks of a grid */
    QUANTITY_EXPRESSION,    /* an expression of the candidate's code that is none of the above */
    QUANTITY_CHOICE         /* the index of axis[0]'s choice */
};

enum { ORDER_LESS, ORDER_SAME, ORDER_MORE };

struct quantity {
    enum quantity_kind kind;
    int count, axis[QUANTITY_AXES]; /* a product has at most MOST_FACTORS */
    int64_t tile, other_tile;
    int derived, second; /* indices into the problem's table of derived sizes; `second` -1: none */
    int against;         /* index of the axis in an order, a product or an offset of sizes; -1: none */
    double cost;
    const struct constraint *expression; /* only of QUANTITY_EXPRESSION */
    int64_t listed[MOST_VALUES]; /* values worth an equality test: those of the seen set, and of a list */
    int listed_count;
    int64_t seen[MOST_VALUES]; /* those of the seen set only, ascending */
    int seen_count;
};

int64_t quantity_value(const struct quantity *quantity, const struct config *config);
/* The same with given values of the problem's derived sizes, by index; at most MOST_DERIVED. */
int64_t quantity_value_of_sizes(const struct quantity *quantity, const struct config *config,
                                const int64_t *size);
bool quantity_is_order(const struct quantity *quantity);
bool quantity_is_drawn(const struct quantity *quantity); /* it depends on a derived size */
bool quantity_is_axis(const struct quantity *quantity);
bool quantity_is_single(const struct quantity *quantity); /* it has a name: an axis, or a derived size */
/* an axis with two values */
bool quantity_is_flag(const struct quantity *quantity, const struct space *space);
bool quantity_has_thresholds(const struct quantity *quantity);
bool quantity_lists(const struct quantity *quantity, int64_t value); /* `value` is among `listed` */
int quantity_format(const struct quantity *quantity, const struct problem *problem, char *text, size_t size);

/* Returns the least common multiple of two positive numbers. */
int64_t least_common_multiple(int64_t a, int64_t b);

struct coded; /* predicate.h */
enum { MOST_EXPRESSIONS = 64 };

/* The quantities of a contract. */
struct vocabulary {
    const struct space *space;
    struct quantity quantity[MOST_QUANTITIES];
    int quantities;
    struct constraint *expression[MOST_EXPRESSIONS]; /* of the candidate's code */
    int expressions;
    struct coded *coded; /* predicates that stand in the candidate's code; NULL: none is known */
    int codeds;
};

/* Lists the quantities. The published set `seen` (may be NULL) has values worth an equality test. */
void vocabulary_open(struct vocabulary *vocabulary, const struct space *space,
                     const struct config_list *seen);
/* Computes every quantity of a configuration. Without `derived`, derived sizes remain 0: they take longer
 * than all others together. */
void vocabulary_values(const struct vocabulary *vocabulary, const struct config *config, bool derived,
                       int64_t *value);

#endif
