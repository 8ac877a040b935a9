/* Shrinking finds the simplest configuration that still fails the same way. */
#ifndef UNSEEN_SHRINK_H
#define UNSEEN_SHRINK_H

#include "gen/contract/space.h"

/* Runs a configuration. Returns 1: it fails the same way; 0: it does not; -1: stop (interrupted, or nothing
 * can be run any more). */
typedef int (*shrink_fails)(void *data, const struct config *config);

struct shrunk {
    struct config config;
    int runs;     /* number of calls of `fails`, which is never called twice for a configuration */
    bool minimal; /* no single simpler step still fails; false: the runs ended before this was known */
};

/* Shrinks `from`, which fails. Every configuration tried lies in the space. Axes are lowered in order, the
 * most expensive first: to the least value, to halves, to multiples of tiles below, and by one. A choice goes
 * to the first one of the contract, then to earlier ones; at last the seed goes to 1. This is repeated until
 * nothing changes. *out is `from` itself if nothing simpler fails. Makes at most `runs` calls. Returns 0, or
 * -1 when memory is out. */
int shrink(const struct space *space, const struct config *from, int runs, shrink_fails fails, void *data,
           struct shrunk *out);

#endif
