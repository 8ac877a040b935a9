/* Atomic replacement of a report: readers see either the earlier file or the complete new one. */
#ifndef UNSEEN_ATOMIC_H
#define UNSEEN_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>

/* Makes `path` hold exactly `text`: writes and syncs a new file beside it, then renames that over `path`. A
 * device or a pipe is written in place. "-" and /dev/stdout mean standard output; its reader may leave early
 * (`| head`) without an error. A named pipe without a reader is an error; the call does not wait for one.
 * Returns 0, or -1 with a message in `error` (path, reason, hint). After an error the earlier file is intact
 * and no temporary file remains. */
int atomic_write(const char *path, const char *text, size_t length, char *error, size_t error_size);

/* Like atomic_write for a file that is not a report: it keeps its permissions, and messages call it
 * `what`. */
int atomic_update(const char *path, const char *what, const char *text, size_t length, char *error,
                  size_t error_size);

/* Like atomic_update for a file whose name the tool chose (a log, a cache). It replaces the name itself, so
 * it never writes through a planted symbolic link, hard link or pipe. A directory is an error. */
int atomic_replace(const char *path, const char *what, const char *text, size_t length, char *error,
                   size_t error_size);

/* Is `path` standard output; is it a stream (standard output, a device or a pipe)? Several texts may be
 * written to a stream one after another. */
bool atomic_is_standard(const char *path);
bool atomic_is_stream(const char *path);

/* Opens a stream early, so that its reader sees no end of file before the text comes. The caller closes the
 * descriptor. Returns -1 with a message if nobody reads the pipe. */
int atomic_hold(const char *path, char *error, size_t error_size);

#endif
