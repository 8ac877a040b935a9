/* Compiled candidates, kept between runs under $XDG_CACHE_HOME/unseen/objects (or ~/.cache/unseen/objects).
 * No process in the sandbox sees this folder. A file is an object and the SHA-256 of the object and its key,
 * so that neither a torn file nor one under another name is ever used. */
#ifndef UNSEEN_OBJECT_STORE_H
#define UNSEEN_OBJECT_STORE_H

#include <stdbool.h>
#include <sys/types.h>

void object_store_enable(bool on); /* off, as --no-cache asks: nothing is taken or kept from now on */
bool object_store_is_on(void);

/* Copies the object of this key (object_key.h) to the new file `to`. False: there is none, or no room. */
bool object_store_take(const char *key, const char *to);

/* Keeps a copy of the object. Any number of processes may do so at the same time. Nothing depends on its
 * success: without room or a home folder, the next run compiles again. */
void object_store_keep(const char *key, const char *object);

/* Removes the least recently used files of the folder until all others have at most `most` bytes together. */
void object_store_trim(const char *folder, off_t most);

#endif
