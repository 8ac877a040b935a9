/* Dropping memory from all caches. */
#ifndef UNSEEN_FLUSH_H
#define UNSEEN_FLUSH_H

#include <stddef.h>

/* These bytes are in memory and in no cache of any core. Where the processor has no instruction for it, other data push them
 * out. */
void flush_memory(const void *memory, size_t bytes);

#endif
