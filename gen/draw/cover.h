/* What a set of configurations covers: every axis is cut into classes, and a tuple of classes of different
 * factors is covered when one configuration lies in all of them. Strength 2: pairs; 3: triples.
 *
 * A range is two factors: where the value lies against the tiles that kernels assume (magnitude), and what
 * it leaves modulo one of them (residue). A list of values or choices is one factor. */
#ifndef UNSEEN_COVER_H
#define UNSEEN_COVER_H

#include "gen/contract/space.h"

enum magnitude {
    MAGNITUDE_LEAST,   /* the contract's least */
    MAGNITUDE_BELOW,   /* below the least tile above 1 */
    MAGNITUDE_TILE,    /* a tile */
    MAGNITUDE_TILE_1,  /* a tile and one more */
    MAGNITUDE_SEVERAL, /* none of the others */
    MAGNITUDE_WAVE, /* COVER_WAVE blocks of the least tile: every multiprocessor of an H100 or H200 has one */
    MAGNITUDE_WAVE_1, /* and one more row */
    MAGNITUDE_LONG,   /* a quarter of what the machine allows, and above, beyond all tiles */
    MAGNITUDE_SEEN,   /* a value of the seen set, whatever else it is */
    MAGNITUDES
};

enum residue { /* modulo a tile above 1 */
               RESIDUE_NONE,
               RESIDUE_ONE,
               RESIDUE_LAST, /* tile - 1 */
               RESIDUE_HALF, /* tile / 2, of tiles of 4 and more */
               RESIDUES
};

enum { COVER_WAVE = 132, COVER_MOST_FACTORS = 2 * PROBLEM_MAX_AXES, COVER_MOST_LEVELS = SPACE_MAX_VALUES };

enum factor_kind { FACTOR_LISTED, FACTOR_MAGNITUDE, FACTOR_RESIDUE };

struct factor {
    int axis;
    enum factor_kind kind;
    int level[COVER_MOST_LEVELS]; /* which classes exist: index into the list, enum magnitude, enum residue */
    int levels;
};

struct cover {
    const struct space *space;
    const struct config_list *seen;
    int64_t largest[PROBLEM_MAX_AXES]; /* that the machine allows */
    struct factor factor[COVER_MOST_FACTORS];
    int factors;
};

/* `seen` must outlive the cover; `largest`: for every number axis what the machine allows with the other
 * axes at their least. Axes with one value are no factors. */
void cover_open(struct cover *cover, const struct space *space, const struct config_list *seen,
                const int64_t *largest);

/* Whether `value` of the factor's axis lies in the class. */
bool cover_in(const struct cover *cover, int factor, int level, int64_t value);

/* The least and the greatest value that may lie in the class, whatever the machine allows. */
void cover_range(const struct cover *cover, int factor, int level, int64_t *low, int64_t *high);

/* TUPLE_ASIDE: nobody asks about it. */
enum tuple_state { TUPLE_OPEN, TUPLE_COVERED, TUPLE_CONTRACT, TUPLE_CAPS, TUPLE_ASIDE };

/* All tuples of a strength and what has become of each. */
struct tuples {
    const struct cover *cover;
    int strength;         /* 2 or 3 */
    int64_t *base;        /* where the tuples of factors (a, b, c) begin */
    unsigned char *state; /* enum tuple_state */
    int64_t count;
};
int tuples_open(struct tuples *tuples, const struct cover *cover, int strength); /* 0, -1 no memory */
void tuples_close(struct tuples *tuples);

/* The place of a tuple: `strength` ascending factors and a level of each. */
int64_t tuples_at(const struct tuples *tuples, const int *factor, const int *level);
void tuples_of(const struct tuples *tuples, int64_t at, int *factor, int *level); /* the way back */

/* Marks all tuples of a configuration; returns how many were open. */
int64_t tuples_mark(struct tuples *tuples, const struct config *config);

/* For people and for the result. */
struct coverage {
    int strength;              /* 0: nothing was counted */
    int64_t covered, possible; /* possible: all but the excluded and those put aside */
    int64_t caps, contract;    /* excluded by the machine's caps, by the contract's constraints */
};
struct coverage tuples_coverage(const struct tuples *tuples);

#endif
