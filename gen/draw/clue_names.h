/* Names in a candidate's code, and the axes and derived sizes of a contract that they may stand for. */
#ifndef UNSEEN_CLUE_NAMES_H
#define UNSEEN_CLUE_NAMES_H

#include "clue.h"
#include "gen/contract/space.h"

enum { CLUE_MOST_UNKNOWN = 3, CLUE_NAME_SIZE = 64 };

/* The names of a clue that stand for no axis. "?" is one of them. */
struct unknown_names {
    char name[CLUE_MOST_UNKNOWN][CLUE_NAME_SIZE];
    int count;
    bool more; /* than CLUE_MOST_UNKNOWN */
};

/* Replaces every name that resembles an axis or a derived size by that name: COLS, n_cols and numCols by
 * cols. Lists the others. */
void clue_resolve(struct clue *clue, const struct problem *problem, struct unknown_names *unknown);

/* Replaces the unknown names by the texts, in their order. Returns false if a term gets too long. */
bool clue_bind(struct clue *clue, const struct unknown_names *unknown, const char *const *text);

#endif
