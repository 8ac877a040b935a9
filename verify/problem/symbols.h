/* The size of a table in a loaded module, from the object's symbol table. So a table without an end marker is
 * detected without reading past it. */
#ifndef UNSEEN_SYMBOLS_H
#define UNSEEN_SYMBOLS_H

#include <stddef.h>

/* Bytes from `address` to the end of its symbol. 0 if unknown: the address is not in the module with file
 * `object`, of which `inside` is some address. */
size_t symbols_bytes(const char *object, const void *inside, const void *address);

#endif
