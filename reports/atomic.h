/* Atomic replacement of a report: readers see the earlier file or the whole new one, never a part. */
#ifndef UNSEEN_ATOMIC_H
#define UNSEEN_ATOMIC_H

#include <stddef.h>

/* Makes `path` hold exactly `text`: a new file beside it is written, synced and renamed over it. A device
 * or a pipe is written in place. Returns 0; or -1 with a message in `error` (path, reason, hint), the
 * earlier file intact and no temporary file left. */
int atomic_write(const char *path, const char *text, size_t length, char *error, size_t error_size);

/* The same for a file that is no report: it keeps its permissions, and messages call it `what`. */
int atomic_update(const char *path, const char *what, const char *text, size_t length, char *error,
                  size_t error_size);

#endif
