/* Where the tool's own files are: beside the binary in a checkout, under share/ when installed. */
#ifndef UNSEEN_PATHS_H
#define UNSEEN_PATHS_H

#include <stddef.h>

/* Path of shapes/NAME; returns 0, or -1 when no such file exists (path then names where it was
 * expected). */
int paths_shape(char *path, size_t size, const char *name);

#endif
