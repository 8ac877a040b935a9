/* Explains why this machine's loader cannot load an object. */
#ifndef UNSEEN_OBJECT_FILE_H
#define UNSEEN_OBJECT_FILE_H

#include <stddef.h>

/* "it was built for aarch64, this is x86-64"; NULL if the ELF header is valid. The result may point into
 * `text`. */
const char *object_fault(const char *object, char *text, size_t size);

#endif
