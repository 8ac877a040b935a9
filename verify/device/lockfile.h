/* Files that processes of all users lock with flock, to take turns at a device. */
#ifndef UNSEEN_LOCKFILE_H
#define UNSEEN_LOCKFILE_H

#include <stdbool.h>

/* /run/lock (a tmpfs for this purpose) if all users may write there, else /tmp: the same result for every
 * user. */
const char *lockfile_directory(void);

/* Opens a file read-only, which suffices for flock; creates a missing file and never follows a link. Returns
 * -1 with errno. */
int lockfile_open(const char *path);

/* Does the path still name this open file? A cleaner of temporary files may have removed it. */
bool lockfile_is_current(const char *path, int fd);

/* Takes LOCK_EX or LOCK_SH by polling, since a signal may be delivered to another thread. False:
 * interrupted. */
bool lockfile_lock(int fd, int how);
/* The same with a time limit. False: interrupted, or timed out. */
bool lockfile_lock_within(int fd, int how, double seconds);

#endif
