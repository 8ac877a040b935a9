/* Where a host's tensors lie in the runner: addresses that are reserved before the candidate is loaded, a window for each slot.
 * A filter of system calls refuses whatever would change a mapping in there. The one call that puts a tensor into its
 * window is the runner's; the kernel asks the judge about it, who lets pass the one that it has asked for. */
#ifndef UNSEEN_ARENA_H
#define UNSEEN_ARENA_H

#include "channel.h"

/* Large, so that a stride in the wrong unit also ends in the guard; it costs addresses only. */
#define ARENA_GUARD ((uint64_t)16 << 20)
#define ARENA_BYTES ((uint64_t)1 << 45) /* aligned to as much, so that one mask tells its addresses */
/* At its start, where nothing lies: what begins below the arena and reaches a window is longer than this. */
#define ARENA_MARGIN ((uint64_t)1 << 40)
#define ARENA_WINDOW ((ARENA_BYTES - ARENA_MARGIN) / CHANNEL_SLOTS / ARENA_GUARD * ARENA_GUARD)
/* Tensors at like places of their windows would meet in the same sets of a TLB: each lies so much further up. */
#define ARENA_SKEW ((uint64_t)33 << 12)
#define ARENA_ROOM                                                                                           \
    (ARENA_WINDOW - 2 * ARENA_GUARD -                                                                        \
     CHANNEL_SLOTS * ARENA_SKEW) /* for one tensor; larger ones lie elsewhere */

static inline uint64_t arena_address(uint64_t arena, unsigned slot)
{
    return arena + ARENA_MARGIN + slot * ARENA_WINDOW + ARENA_GUARD + slot * ARENA_SKEW;
}

#endif
