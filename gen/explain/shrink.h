/* Shrinking: the simplest configuration that still fails the same way. */
#ifndef UNSEEN_SHRINK_H
#define UNSEEN_SHRINK_H

#include "gen/contract/space.h"

/* 1: fails the same way, 0: it does not, -1: stop (interrupted, or nothing can be run any more). */
typedef int (*shrink_fails)(void *data, const struct config *config);

struct shrunk {
    struct config config;
    int runs;     /* calls of `fails`; a configuration is never asked for twice */
    bool minimal; /* no single simpler step still fails; false: the runs ended before that was known */
};

/* Starts from `from`, which fails. Every configuration tried lies in the space. Per axis, the one that
 * costs most first: the least value, halves, tile multiples below, one less; of a choice the first one of
 * the contract, then earlier ones; at last seed 1. Over and over until nothing changes. *out is `from`
 * itself when nothing simpler fails. At most `runs` calls. Returns 0; -1 when memory is out. */
int shrink(const struct space *space, const struct config *from, int runs, shrink_fails fails, void *data,
           struct shrunk *out);

#endif
