/* Compiled problems, cached between runs: one file per problem folder under $XDG_CACHE_HOME/unseen. The file
 * is the
 * shared object followed by a description of its inputs, so that a single rename puts it into place:
 *
 *     object | KEY line | "SHA-256 PATH" lines, one per source | footer: bytes of lines, SHA-256 so far
 *
 * An entry is valid only if the whole file has its hash, the key is the requested one, and every source is
 * unchanged. */
#ifndef UNSEEN_CACHE_H
#define UNSEEN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct cache_slot {
    char path[1200]; /* path of the entry, which need not exist */
    int lock;        /* lock of the entry, held until cache_close; -1: not available */
    char why[400];   /* not empty: why nothing can be cached */
};

/* Opens a slot; `name` is the entry's file name. Waits for other processes that use the same entry. */
void cache_open(struct cache_slot *slot, const char *name);
void cache_close(struct cache_slot *slot);

/* Is the entry valid for `key` (one line), with unchanged sources? */
bool cache_holds(const struct cache_slot *slot, const char *key);

/* Stores the object at `path`, compiled from `sources` (NULL-terminated paths) since `began`. False: it could
 * not be stored; slot->why says why, and is empty if a source has changed meanwhile. */
bool cache_keep(struct cache_slot *slot, const char *path, const char *key, char *const *sources,
                const struct timespec *began);

#endif
