/* Shared by forbid.c and forbid_watch.c. */
#ifndef UNSEEN_FORBID_INTERNAL_H
#define UNSEEN_FORBID_INTERNAL_H

#include "forbid.h"

/* Checks a library: its file name, its own name and its symbols; for the candidate's own libraries also the
 * kernels. `fd`: the file, -1 if it cannot be opened. */
void forbid_library(const char *path, int fd);

/* Is it in a system folder, where candidates put no files? System libraries contain kernels of other
 * libraries that nobody called. */
bool forbid_is_systems(const char *path);

void forbid_set_blind(void);

#endif
