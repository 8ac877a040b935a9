/* Files that processes of a machine, whoever started them, lock with flock to take turns at a device. */
#ifndef UNSEEN_LOCKFILE_H
#define UNSEEN_LOCKFILE_H

#include <stdbool.h>

/* /run/lock where everybody may write there (tmpfs, for just this), else /tmp: the same answer for every user. */
const char *lockfile_directory(void);

/* For reading only, which is all that flock asks for; created where it is missing. A link is never followed. -1, errno. */
int lockfile_open(const char *path);

/* Is that still the file that others open by this path? A cleaner of temporary files may have removed it. */
bool lockfile_is_current(const char *path, int fd);

/* LOCK_EX or LOCK_SH, asked again and again, not in one waiting call: a signal may be delivered to another thread.
 * False: interrupted. */
bool lockfile_lock(int fd, int how);
/* The same, for so long at most. False: interrupted, or not had. */
bool lockfile_lock_within(int fd, int how, double seconds);

#endif
