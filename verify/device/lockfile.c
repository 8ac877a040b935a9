#include "lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "verify/util/budget.h"
#include "verify/util/clock.h"
#include "verify/util/interrupt.h"

enum { POLL_NS = 2000000, ATTEMPTS = 16 };

const char *lockfile_directory(void)
{
    struct stat status;
    const mode_t open_to_all = S_ISVTX | S_IRWXO;
    return stat("/run/lock", &status) == 0 && S_ISDIR(status.st_mode) &&
                   (status.st_mode & open_to_all) == open_to_all
               ? "/run/lock"
               : "/tmp";
}

/* Opens read-only, which is all that flock needs, so nobody needs write access to another user's file. It
 * opens first and creates only a missing file, since Linux (fs.protected_regular) refuses O_CREAT on another
 * user's file in such a directory. It never follows a link. */
int lockfile_open(const char *path)
{
    struct stat status;
    int fd = -1;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT) {
            fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
            if (fd >= 0)
                fchmod(fd, 0444); /* independent of the umask */
        }
        if (fd < 0 && errno != EEXIST && errno != ENOENT)
            return -1;
    }
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* A cleaner of temporary files may have removed the locked file; another process would then lock a new
 * file. */
bool lockfile_is_current(const char *path, int fd)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

bool lockfile_lock_within(int fd, int how, double seconds)
{
    const struct timespec moment = {0, POLL_NS};
    const double end = clock_seconds() + seconds;
    while (flock(fd, how | LOCK_NB) != 0) {
        if (is_interrupted() || budget_is_over() || clock_seconds() >= end)
            return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

bool lockfile_lock(int fd, int how)
{
    return lockfile_lock_within(fd, how, HUGE_VAL);
}
