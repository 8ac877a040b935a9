/* Coverage of a set of configurations. Every axis is cut into classes. A tuple of classes of different
 * factors is covered if one configuration belongs to all of them. Strength 2 counts pairs, strength 3
 * triples.
 *
 * A range has two factors. The magnitude compares the value with the tiles that kernels assume; the
 * residue is the remainder of the value by one of these tiles. A list of values or choices is one factor. */
#ifndef UNSEEN_COVER_H
#define UNSEEN_COVER_H

#include "gen/contract/space.h"

enum magnitude {
    MAGNITUDE_LEAST,   /* the least value of the contract */
    MAGNITUDE_BELOW,   /* below the least tile above 1 */
    MAGNITUDE_TILE,    /* equal to a tile */
    MAGNITUDE_TILE_1,  /* one more than a tile */
    MAGNITUDE_SEVERAL, /* any value outside the other classes */
    MAGNITUDE_WAVE, /* COVER_WAVE blocks of the least tile: every multiprocessor of an H100 or H200 has one */
    MAGNITUDE_WAVE_1, /* one more row than that */
    /* beyond all tiles, and at least a quarter of the largest value that the machine allows */
    MAGNITUDE_LONG,
    MAGNITUDE_SEEN, /* a value of the seen set, in addition to its other class */
    MAGNITUDES
};

enum residue { /* remainder by a tile above 1 */
               RESIDUE_NONE,
               RESIDUE_ONE,
               RESIDUE_LAST, /* tile - 1 */
               RESIDUE_HALF, /* tile / 2, for tiles of at least 4 */
               RESIDUES
};

enum { COVER_WAVE = 132, COVER_MOST_FACTORS = 2 * PROBLEM_MAX_AXES, COVER_MOST_LEVELS = SPACE_MAX_VALUES };

enum factor_kind { FACTOR_LISTED, FACTOR_MAGNITUDE, FACTOR_RESIDUE };

struct factor {
    int axis;
    enum factor_kind kind;
    /* the classes that exist: indices into the list, enum magnitude or enum residue */
    int level[COVER_MOST_LEVELS];
    int levels;
};

struct cover {
    const struct space *space;
    const struct config_list *seen;
    int64_t largest[PROBLEM_MAX_AXES]; /* largest value that the machine allows */
    struct factor factor[COVER_MOST_FACTORS];
    int factors;
};

/* Builds the factors. `seen` must outlive the cover. `largest` has, for every number axis, the largest value
 * that the machine allows with the other axes at their least. Axes with a single value are no factors. */
void cover_open(struct cover *cover, const struct space *space, const struct config_list *seen,
                const int64_t *largest);

/* Returns whether `value` of the factor's axis belongs to the class. */
bool cover_in(const struct cover *cover, int factor, int level, int64_t value);

/* Finds the least and the greatest value that may belong to the class, regardless of the machine's limits. */
void cover_range(const struct cover *cover, int factor, int level, int64_t *low, int64_t *high);

/* TUPLE_CONTRACT, TUPLE_CAPS: excluded by the contract or by the caps. TUPLE_ASIDE: not asked for. */
enum tuple_state { TUPLE_OPEN, TUPLE_COVERED, TUPLE_CONTRACT, TUPLE_CAPS, TUPLE_ASIDE };

/* All tuples of a strength, with the state of each. */
struct tuples {
    const struct cover *cover;
    int strength;         /* 2 or 3 */
    int64_t *base;        /* index of the first tuple of each set of factors (a, b, c) */
    unsigned char *state; /* enum tuple_state */
    int64_t count;
};
/* returns 0, or -1 when memory is out */
int tuples_open(struct tuples *tuples, const struct cover *cover, int strength);
void tuples_close(struct tuples *tuples);

/* Returns the index of a tuple, given as `strength` ascending factors and a level of each. */
int64_t tuples_at(const struct tuples *tuples, const int *factor, const int *level);
void tuples_of(const struct tuples *tuples, int64_t at, int *factor, int *level); /* inverse of tuples_at */

/* Marks all tuples of a configuration as covered; returns how many were not covered before. */
int64_t tuples_mark(struct tuples *tuples, const struct config *config);

/* Counts for reports and for the result. */
struct coverage {
    int strength;              /* 2 or 3; 0: nothing was counted */
    int64_t covered, possible; /* possible: all except those excluded and those set aside */
    int64_t caps, contract;    /* excluded by the machine's caps, by the contract's constraints */
};
struct coverage tuples_coverage(const struct tuples *tuples);

#endif
