/* Enclosures of right answers, kept in the judge's memory for the next candidate that gets the same inputs.
 * Then judging reads each enclosure once and computes none. Several judges may use a cache in different
 * threads.
 *
 * Candidates of one problem ask for the same enclosures in the same order. If these exceed the cache,
 * dropping the least recently used ones would drop each just before its use. So a round is one candidate, and
 * enclosures that the present or the last round used are never dropped for others. */
#ifndef UNSEEN_ENCLOSURE_CACHE_H
#define UNSEEN_ENCLOSURE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "reference/judge.h"
#include "verify/device/memory.h"

struct enclosure_cache;

/* At most `bytes` are kept, all in memory of one backend. NULL when out of memory. */
struct enclosure_cache *enclosure_cache_open(const struct memory *memory, double bytes);
void enclosure_cache_close(struct enclosure_cache *cache);       /* NULL is fine; nothing may be in use */
void enclosure_cache_begin_round(struct enclosure_cache *cache); /* NULL is fine */

/* The enclosures of one output for one set of inputs, held by a judge. */
struct cached_enclosures {
    double *memory; /* NULL for 0 bytes */
    bool filled;    /* memory has all enclosures; else the judge stores them */
    bool audited;   /* MPFR has audited some of them */
    size_t bytes;
};

/* Finds the enclosures that `key` names, or makes room for `bytes` of new ones. NULL: they are too large
 * to be kept, memory is short, or another judge fills them now. */
struct cached_enclosures *enclosure_cache_take(struct enclosure_cache *cache, const char *key, size_t bytes);
/* Ends the use. New enclosures are kept if `filled`, else dropped. NULL is fine. */
void enclosure_cache_give(struct enclosure_cache *cache, struct cached_enclosures *enclosures, bool filled,
                          bool audited);

/* Releases all enclosures that no judge holds: memory is short. Returns whether there were any. NULL is
 * fine. */
bool enclosure_cache_clear(struct enclosure_cache *cache);

/* Number of outputs so far whose enclosures were read and not computed. */
int64_t enclosure_cache_hits(const struct enclosure_cache *cache);

#endif
