/* Where the tool's own files are: beside the binary in a checkout, under share/ when installed. Both have the folders
 * problems/, reference/ and shapes/. */
#ifndef UNSEEN_PATHS_H
#define UNSEEN_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Path of NAME, "shapes/softmax.seen" for example; returns 0, or -1 when no such file exists (path then names where it
 * was expected). */
int paths_find(char *path, size_t size, const char *name);
int paths_shape(char *path, size_t size, const char *name); /* of shapes/NAME */

/* The folder that holds problems/ and reference/, which problems are compiled with. */
int paths_root(char *path, size_t size);

/* Are they under share/, where nothing of a user's is kept? */
bool paths_installed(void);

#endif
