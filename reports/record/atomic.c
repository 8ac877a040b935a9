#include "atomic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct target {
    char path[PATH_MAX];      /* the file to replace, with symbolic links resolved */
    char temporary[PATH_MAX]; /* empty: there is nothing to remove */
    bool direct;              /* a device or a pipe */
    bool standard;            /* standard output of this process */
    bool exists;              /* a regular file exists and has permissions `mode` */
    mode_t mode;
};

static const char *hint(int reason)
{
    switch (reason) {
    case ENOSPC:
    case EDQUOT: return "free some space there, or give a path on another file system";
    case EFBIG: return "raise the limit on file sizes (ulimit -f)";
    case EACCES:
    case EPERM:
    case EROFS: return "give a path in a directory that you may write to";
    case ENOENT: return "create the directory first, or correct the path";
    case ENOTDIR: return "a part of the path is a file: correct the path";
    case EISDIR: return "give the name of a file inside that directory";
    case ENXIO: return "nobody reads this pipe: start its reader first, or give a file";
    case EPIPE: return "its reader is gone: start one that reads to the end, or give a file";
    case ENAMETOOLONG: return "give a shorter path";
    default: return "give another path";
    }
}

bool atomic_is_standard(const char *path)
{
    static const char *const name[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(path, name[i]) == 0)
            return true;
    return false;
}

bool atomic_is_stream(const char *path)
{
    struct stat status;

    return atomic_is_standard(path) || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* Does not wait for a reader, since one may never come. Returns a descriptor, or -1 with errno set. */
static int open_stream(const char *path)
{
    const int descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

/* Treatment of a path that already exists. */
enum manner {
    MANNER_REPORT, /* follow a symbolic link; a new file gets the user's umask */
    MANNER_UPDATE, /* follow a symbolic link; the file keeps its permissions */
    MANNER_OWN     /* replace the name itself: follow no symbolic link and open no pipe */
};

/* Returns 0 or an errno. */
static int resolve(struct target *target, const char *path, enum manner manner)
{
    struct stat status;
    char *real;

    if (strlen(path) >= sizeof target->path)
        return ENAMETOOLONG;
    strcpy(target->path, path);
    if (manner == MANNER_OWN)
        return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) ? EISDIR : 0;
    target->standard = atomic_is_standard(path);
    target->direct = target->standard;
    if (target->standard)
        return 0;
    if (stat(path, &status) != 0)
        return errno == ENOENT && path[0] != '\0' ? 0 : errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    /* Renaming over /dev/null or a pipe would destroy it. */
    target->direct = !S_ISREG(status.st_mode);
    if (target->direct)
        return 0;
    target->exists = true;
    target->mode = status.st_mode & 07777;
    real = realpath(path, NULL); /* a symbolic link stays: its target is replaced */
    if (real == NULL)
        return errno;
    snprintf(target->path, sizeof target->path, "%s", real);
    free(real);
    return 0;
}

/* Is `entry` a temporary file "NAME.PID.N.tmp" of the file `name`? */
static bool is_temporary_of(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    int end = 0;

    if (strncmp(entry, name, length) != 0)
        return false;
    return sscanf(entry + length, ".%*d.%*d.tmp%n", &end) == 0 && end > 0 &&
           entry[length + (size_t)end] == '\0';
}

/* Does `name` still lead to the open file? Its writer may have renamed it and created another one since. */
static bool is_name_of(int folder, const char *name, int descriptor)
{
    struct stat file, now;

    return fstat(descriptor, &file) == 0 && fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           file.st_dev == now.st_dev && file.st_ino == now.st_ino;
}

/* Removes temporary files that killed processes have left. A live writer holds a file lock on its temporary
 * file, and the system releases that lock when the writer dies. */
static void clear_abandoned(const char *path)
{
    char folder[PATH_MAX];
    const char *const slash = strrchr(path, '/'), *const name = slash != NULL ? slash + 1 : path;
    DIR *directory;

    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    directory = opendir(*folder != '\0' ? folder : ".");
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        int descriptor;

        if (!is_temporary_of(entry->d_name, name))
            continue;
        descriptor = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (descriptor < 0)
            continue;
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
            is_name_of(dirfd(directory), entry->d_name, descriptor))
            unlinkat(dirfd(directory), entry->d_name, 0);
        close(descriptor);
    }
    if (directory != NULL)
        closedir(directory);
}

/* Locks the new file and checks that no other process has removed it as abandoned meanwhile. On a file system
 * without locks the check is skipped. */
static bool is_held(int descriptor)
{
    struct stat status;

    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

/* mkstemp would create the file with mode 0600; the report must have the permissions of the user's umask. */
static int create_temporary(struct target *target)
{
    clear_abandoned(target->path);
    for (int attempt = 0; attempt < 1000; attempt++) {
        char name[PATH_MAX + 48];
        int descriptor, length;

        length = snprintf(name, sizeof name, "%s.%ld.%d.tmp", target->path, (long)getpid(), attempt);
        if (length < 0 || (size_t)length >= sizeof target->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            return -1;
        if (descriptor >= 0 && is_held(descriptor)) {
            memcpy(target->temporary, name, (size_t)length + 1);
            return descriptor;
        }
        if (descriptor >= 0)
            close(descriptor);
    }
    return -1;
}

static int write_all(int descriptor, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

/* Returns 0 or an errno. */
static int replace(struct target *target, const char *text, size_t length, bool keep_mode)
{
    int descriptor, reason;

    descriptor = target->standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                 : target->direct ? open_stream(target->path)
                                  : create_temporary(target);
    if (descriptor < 0)
        return errno;
    reason = keep_mode && target->exists && fchmod(descriptor, target->mode) != 0 ? errno : 0;
    if (reason == 0)
        reason = write_all(descriptor, text, length);
    if (reason == 0 && !target->direct && fsync(descriptor) != 0)
        reason = errno;
    /* Closing releases the lock, and a file without a lock is removed as abandoned: rename it first. */
    if (reason == 0 && !target->direct && rename(target->temporary, target->path) != 0)
        reason = errno;
    if (close(descriptor) != 0 && reason == 0 && target->direct)
        reason = errno;
    if (reason != 0 && target->temporary[0] != '\0')
        unlink(target->temporary);
    /* a closed pipe is no error: `| head` has read all it wanted */
    return target->standard && reason == EPIPE ? 0 : reason;
}

static int write_file(const char *path, const char *what, const char *text, size_t length, enum manner manner,
                      char *error, size_t error_size)
{
    struct target target = {0};
    int reason = resolve(&target, path, manner);

    if (reason == 0)
        reason = replace(&target, text, length, manner == MANNER_UPDATE);
    if (reason == 0)
        return 0;
    snprintf(error, error_size, "%s: cannot write the %s: %s\n---> %s", path, what, strerror(reason),
             hint(reason));
    return -1;
}

int atomic_hold(const char *path, char *error, size_t error_size)
{
    const int descriptor =
        atomic_is_standard(path) ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open_stream(path);

    if (descriptor < 0)
        snprintf(error, error_size, "%s: cannot write the report: %s\n---> %s", path, strerror(errno),
                 hint(errno));
    return descriptor;
}

int atomic_write(const char *path, const char *text, size_t length, char *error, size_t error_size)
{
    return write_file(path, "report", text, length, MANNER_REPORT, error, error_size);
}

int atomic_update(const char *path, const char *what, const char *text, size_t length, char *error,
                  size_t error_size)
{
    return write_file(path, what, text, length, MANNER_UPDATE, error, error_size);
}

int atomic_replace(const char *path, const char *what, const char *text, size_t length, char *error,
                   size_t error_size)
{
    return write_file(path, what, text, length, MANNER_OWN, error, error_size);
}
