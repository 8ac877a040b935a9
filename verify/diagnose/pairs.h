/* Failures that take two configurations in one process: the smallest pair, and what the two of a pair share. */
#ifndef UNSEEN_PAIRS_H
#define UNSEEN_PAIRS_H

#include "shrinking.h"
#include "verify/session/sibling.h"

/* The simplest pair of the same kind: `failure` has one. Fills s->best, whose pair it is, and s->shrunk, which is about the
 * configuration that comes first. False: it does not fail any more, or it is over; s->best is `failure` then. */
bool pairs_shrink(struct shrinking *s, const struct config_result *failure);

/* Pairs that share something, and others, each in a process of its own. */
struct pairs_relation {
    char text[SIBLING_TEXT]; /* "equal rows*cols"; empty: nothing that is plain */
    int fails, runs;         /* of pairs that share it */
    int other_fails, others;
};

/* Which relation it is, by fresh pairs that begin with some of these configurations. */
void pairs_relate(struct shrinking *s, const struct result_pair *pair, const struct config_result *base,
                  int bases, struct pairs_relation *relation);

#endif
