/* Why the loader of this machine cannot take an object, in words of our own. */
#ifndef UNSEEN_OBJECT_FILE_H
#define UNSEEN_OBJECT_FILE_H

#include <stddef.h>

/* "it was built for aarch64, this is x86-64"; NULL where the ELF header is in order. The words may be in `text`. */
const char *object_fault(const char *object, char *text, size_t size);

#endif
