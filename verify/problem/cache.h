/* Compiled problems, kept from run to run: one file a problem's folder under $XDG_CACHE_HOME/unseen. The file is the
 * shared object followed by what it was made from, so that it comes into place by one rename:
 *
 *     object | KEY line | "SHA-256 PATH" lines, one a source | footer: bytes of the lines, SHA-256 of all before it
 *
 * An entry holds only when the whole file has its hash, the key is the one asked for and every source has the content
 * that it had. */
#ifndef UNSEEN_CACHE_H
#define UNSEEN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct cache_slot {
    char path[1200]; /* the entry; it need not exist */
    int lock;        /* of those who look and write, until cache_close; -1: none is to be had */
    char why[400];   /* not empty: nothing can be kept, and why */
};

/* `name` is the entry's file name. Waits for others that are at the same entry. */
void cache_open(struct cache_slot *slot, const char *name);
void cache_close(struct cache_slot *slot);

/* Does the entry hold, made by `key` (one line), and are its sources what they were? */
bool cache_holds(const struct cache_slot *slot, const char *key);

/* Keep the object at `path`, made from `sources` (NULL-terminated paths) since `began`. False: it could not be kept; slot->why
 * says why, and is empty where a source was changed meanwhile. */
bool cache_keep(struct cache_slot *slot, const char *path, const char *key, char *const *sources,
                const struct timespec *began);

#endif
