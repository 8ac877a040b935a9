/* Failures that need two configurations in one process: shrinks such a pair, and finds the relation of its
 * members. */
#ifndef UNSEEN_PAIRS_H
#define UNSEEN_PAIRS_H

#include "shrinking.h"
#include "verify/session/sibling.h"

/* Shrinks failure->pair, which must be present, to the simplest failing pair of the same kind. Fills s->best
 * with that pair's result, and s->shrunk for the configuration that comes first. False: the pair did not fail
 * again, or no more runs are allowed; s->best is `failure` then. */
bool pairs_shrink(struct shrinking *s, const struct config_result *failure);

/* Failure counts of pairs with a relation, and of others. Each pair runs in a process of its own. */
struct pairs_relation {
    char text[SIBLING_TEXT]; /* "equal rows*cols"; empty: no simple relation */
    int fails, runs;         /* of pairs with the relation */
    int other_fails, others;
};

/* Finds the relation by fresh pairs, each of which begins with one of the `bases` configurations in
 * `base`. */
void pairs_relate(struct shrinking *s, const struct result_pair *pair, const struct config_result *base,
                  int bases, struct pairs_relation *relation);

#endif
