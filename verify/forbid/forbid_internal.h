/* What forbid.c shares with watch.c. */
#ifndef UNSEEN_FORBID_INTERNAL_H
#define UNSEEN_FORBID_INTERNAL_H

#include "forbid.h"

/* Looks at a library: its file's name, what it calls itself, what it defines, and where it is the candidate's own its
 * kernels. `fd`: the file, -1 when it cannot be opened. */
void forbid_library(const char *path, int fd);

/* Where candidates put no files: system libraries hold kernels of libraries that nobody called. */
bool forbid_is_systems(const char *path);

void forbid_set_blind(void);

#endif
