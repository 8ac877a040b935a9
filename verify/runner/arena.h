/* Address range for host tensors in the runner: reserved before the candidate is loaded, with a window for
 * each slot. A system call filter refuses every change of a mapping in it. The runner maps a tensor by one
 * call; the kernel asks the judge about it, who allows only the mapping it has requested. */
#ifndef UNSEEN_ARENA_H
#define UNSEEN_ARENA_H

#include "channel.h"

/* Large, so that an access with a stride in the wrong unit also hits the guard; costs address space only. */
#define ARENA_GUARD ((uint64_t)16 << 20)
#define ARENA_BYTES ((uint64_t)1 << 45) /* aligned to its size, so that one mask recognises its addresses */
/* An unused margin at the start: a mapping that begins below the arena and reaches a window is longer than
 * this. */
#define ARENA_MARGIN ((uint64_t)1 << 40)
#define ARENA_WINDOW ((ARENA_BYTES - ARENA_MARGIN) / CHANNEL_SLOTS / ARENA_GUARD * ARENA_GUARD)
/* Without a skew, tensors at the same offset of their windows would use the same TLB sets. */
#define ARENA_SKEW ((uint64_t)33 << 12)
#define ARENA_ROOM                                                                                           \
    (ARENA_WINDOW - 2 * ARENA_GUARD -                                                                        \
     CHANNEL_SLOTS * ARENA_SKEW) /* maximum size of a tensor; larger ones are mapped elsewhere */

static inline uint64_t arena_address(uint64_t arena, unsigned slot)
{
    return arena + ARENA_MARGIN + slot * ARENA_WINDOW + ARENA_GUARD + slot * ARENA_SKEW;
}

#endif
