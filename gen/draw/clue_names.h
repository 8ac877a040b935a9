/* Names in a candidate's code, and the axes and derived sizes of a contract that they may stand for. */
#ifndef UNSEEN_CLUE_NAMES_H
#define UNSEEN_CLUE_NAMES_H

#include "clue.h"
#include "gen/contract/space.h"
#include "gen/random/pcg.h"

enum { CLUE_MOST_UNKNOWN = 3, CLUE_NAME_SIZE = 64 };

/* The names of a clue that stand for no axis. "?" is one of them. */
struct unknown_names {
    char name[CLUE_MOST_UNKNOWN][CLUE_NAME_SIZE];
    int count;
    bool more; /* than CLUE_MOST_UNKNOWN */
};

/* The integer arguments of a problem as expressions over its axes: a candidate's `c` may be groups *
 * c_per_group. They are found by their values on some configurations. "": none was found, or the
 * argument is an axis. */
struct argument_texts {
    const struct problem *problem;
    char text[PROBLEM_MAX_ARGUMENTS][CLUE_TEXT_SIZE];
};
void argument_texts_find(struct argument_texts *arguments, const struct space *space, struct pcg *stream);

/* Replaces every name that resembles an axis, a derived size or an argument by that one: COLS, n_cols
 * and numCols by cols. Lists the others. */
void clue_resolve(struct clue *clue, const struct argument_texts *arguments, struct unknown_names *unknown);

/* Replaces the unknown names by the texts, in their order. Returns false if a term gets too long. */
bool clue_bind(struct clue *clue, const struct unknown_names *unknown, const char *const *text);

#endif
