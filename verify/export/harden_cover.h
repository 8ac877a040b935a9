/* A greedy set cover: few configurations that kill many wrong outputs. */
#ifndef UNSEEN_HARDEN_COVER_H
#define UNSEEN_HARDEN_COVER_H

#include <stdbool.h>

/* kills[c * targets + t]: configuration c distinguishes target t from the right answer. cost[c]: its cost,
 * above 0. */
struct covering {
    const bool *kills;
    const double *cost;
    int candidates, targets;
};

/* Chooses at most `most` configurations, cheapest first, into chosen[]. fresh[] gets the number of targets
 * that each kills and no earlier one does. Redundant configurations are removed. Among those that kill at
 * least nine tenths as much as the best, the cheapest is taken. Returns their number; -1 when out of
 * memory. */
int cover_choose(const struct covering *covering, int most, int *chosen, int *fresh);

#endif
