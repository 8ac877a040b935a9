/* Flushing memory from all caches. */
#ifndef UNSEEN_FLUSH_H
#define UNSEEN_FLUSH_H

#include <stddef.h>

/* Writes these bytes back and evicts them from all caches of all cores. Without an instruction for it, other
 * data evict them. */
void flush_memory(const void *memory, size_t bytes);

#endif
