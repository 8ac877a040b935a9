/* Locations of the tool's own files: beside the binary in a checkout, under share/ when installed. Both have
 * the folders problems/, reference/ and shapes/. */
#ifndef UNSEEN_PATHS_H
#define UNSEEN_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Path of NAME, such as "shapes/softmax.seen". Returns 0, or -1 if the file does not exist; then path says
 * where it was expected. */
int paths_find(char *path, size_t size, const char *name);
int paths_shape(char *path, size_t size, const char *name); /* path of shapes/NAME */

/* The folder that contains problems/ and reference/, needed to compile problems. */
int paths_root(char *path, size_t size);

/* Are they under share/, where user files are not stored? */
bool paths_installed(void);

#endif
