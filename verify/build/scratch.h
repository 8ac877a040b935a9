/* Files of a build: private directories under TMPDIR, copies, hashes. */
#ifndef UNSEEN_SCRATCH_H
#define UNSEEN_SCRATCH_H

#include "build.h"

/* Creates a private directory; the path is absolute and free of links. Once per process it removes
 * directories of killed processes. BUILD_ENVIRONMENT with an error text if there is no room. */
enum build_status scratch_open(char *directory, size_t size, char *error, size_t error_size);
void scratch_remove(const char *directory); /* with all of its contents */

/* Removes all directories of this process; safe at its last moment while other threads run. */
void scratch_remove_all(void);

/* Computes the SHA-256 of the file at `path` in `hex`, and copies it to `to` unless NULL. Returns 0; -1:
 * cannot read it; -2: cannot write the copy; errno says why. */
int scratch_take(const char *path, const char *to, char hex[65]);

/* Can a file of some MiB still be written there? A compiler's message about a full disk may come from the
 * candidate (#error). */
bool scratch_has_room(const char *directory);
void scratch_hash(const char *text, size_t length, char hex[65]); /* SHA-256 of a text */

/* Reads a file of the tool's own and appends a NUL; the caller frees it. NULL: there is no such file, or it
 * is another user's, which is not loaded. */
char *scratch_read_own(const char *path, size_t *size);

/* "cannot WHAT PATH: errno", with a hint. */
enum build_status scratch_no_room(const char *what, const char *path, char *error, size_t error_size);

const char *scratch_place(void); /* TMPDIR or /tmp */

#endif
