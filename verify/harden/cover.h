/* Few configurations that kill many wrong outputs: a greedy set cover. */
#ifndef UNSEEN_HARDEN_COVER_H
#define UNSEEN_HARDEN_COVER_H

#include <stdbool.h>

/* kills[c * targets + t]: configuration c tells target t from the right answer. cost[c]: what it costs to run, above 0. */
struct covering {
    const bool *kills;
    const double *cost;
    int candidates, targets;
};

/* Chooses at most `most` configurations, cheapest first, into chosen[], with the number of targets that each kills and none
 * before it does in fresh[]. None is chosen that the others make idle. Of configurations that kill nearly as much as the best
 * one (nine tenths) the cheapest is taken. Returns how many; -1 when out of memory. */
int cover_choose(const struct covering *covering, int most, int *chosen, int *fresh);

#endif
