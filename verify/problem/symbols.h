/* The size of a table in a loaded module: its compiler wrote it into the object's symbol table, so that a table without
 * an end is told without reading past it. */
#ifndef UNSEEN_SYMBOLS_H
#define UNSEEN_SYMBOLS_H

#include <stddef.h>

/* Bytes from `address` to the end of the object that it lies in; 0 when that is unknown: it is not of the module
 * whose file is `object` and which has `inside`, an address of its own. */
size_t symbols_bytes(const char *object, const void *inside, const void *address);

#endif
