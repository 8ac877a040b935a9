/* Files of a build: private directories under TMPDIR, copies, hashes. */
#ifndef UNSEEN_SCRATCH_H
#define UNSEEN_SCRATCH_H

#include "build.h"

/* A private directory, absolute, without links. Those that killed processes have left are removed, once. BUILD_ENVIRONMENT with an error text when there is no room. */
enum build_status scratch_open(char *directory, size_t size, char *error, size_t error_size);
void scratch_remove(const char *directory); /* with all that is in it */

/* All of this process that are still there: for its last moment, with other threads at work. */
void scratch_remove_all(void);

/* SHA-256 of the file at `path`, in `hex`; and with `to` not NULL a copy of it there. Returns 0; -1 cannot read it; -2
 * cannot write the copy; errno says why. */
int scratch_take(const char *path, const char *to, char hex[65]);

/* Can a file of some MiB still be written in there? What a compiler says of a full disk the candidate may have said (#error). */
bool scratch_has_room(const char *directory);
void scratch_hash(const char *text, size_t length, char hex[65]); /* SHA-256 of a text */

/* "cannot WHAT PATH: errno", with a hint. */
enum build_status scratch_no_room(const char *what, const char *path, char *error, size_t error_size);

const char *scratch_place(void); /* TMPDIR, or /tmp */

#endif
