/* Atomic replacement of a report: readers see the earlier file or the whole new one, never a part. */
#ifndef UNSEEN_ATOMIC_H
#define UNSEEN_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>

/* Makes `path` hold exactly `text`: a new file beside it is written, synced and renamed over it. A device
 * or a pipe is written in place; "-" and /dev/stdout are this process's standard output, whose reader may leave
 * (`| head`) without that being an error. A named pipe that nobody reads is an error, and waited for by nobody. Returns 0; or -1 with a message in `error` (path, reason, hint), the
 * earlier file intact and no temporary file left. */
int atomic_write(const char *path, const char *text, size_t length, char *error, size_t error_size);

/* The same for a file that is no report: it keeps its permissions, and messages call it `what`. */
int atomic_update(const char *path, const char *what, const char *text, size_t length, char *error,
                  size_t error_size);

/* The same for a file whose name the user did not give (a log, a cache). The name is replaced: a symbolic link, a hard link
 * or a pipe that somebody planted there is never written through. A directory is an error. */
int atomic_replace(const char *path, const char *what, const char *text, size_t length, char *error,
                   size_t error_size);

/* Is it standard output; that, or a device or a pipe? There, one text follows another. */
bool atomic_is_standard(const char *path);
bool atomic_is_stream(const char *path);

/* Opens a stream, so that its reader sees no end before the text comes. The caller closes the descriptor; -1 with a message
 * where nobody reads it. */
int atomic_hold(const char *path, char *error, size_t error_size);

#endif
