/* An aim: a conjunction of comparisons that a drawn configuration shall satisfy. Conditions in a candidate's
 * code become aims. */
#ifndef UNSEEN_AIM_H
#define UNSEEN_AIM_H

#include "clue.h"
#include "gen/contract/space.h"
#include "gen/random/pcg.h"

struct aim_term {
    struct constraint *left, *right;
    enum clue_relation relation; /* not CLUE_TILE */
};

struct aim {
    struct aim_term term[CLUE_MOST_TERMS];
    int terms;
    unsigned axes; /* on which the terms depend, one bit each */
};

/* Parses the clue's terms. Every name must be a number axis or a derived size, and no relation CLUE_TILE.
 * Returns false if that is not so, or if memory is out; *aim is then empty. */
bool aim_open(struct aim *aim, const struct problem *problem, const struct clue *clue);
void aim_close(struct aim *aim);

/* Returns whether all terms hold. */
bool aim_holds(const struct aim *aim, const struct config *config);

/* Moves the axes of the aim until it holds and the configuration lies in the contract; other axes move only
 * where a constraint requires it. A random descent: the distance of all terms never grows much. Returns false
 * if a limited number of steps does not suffice. */
bool aim_reach(const struct aim *aim, const struct space *space, struct config *config, struct pcg *stream);

#endif
