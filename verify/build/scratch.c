#include "scratch.h"
#include "gen/random/hex.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WALK_DEPTH = 16, MAKING_SECONDS = 60 };

const char *scratch_place(void)
{
    const char *directory = getenv("TMPDIR");
    return directory && *directory ? directory : "/tmp";
}

enum build_status scratch_no_room(const char *what, const char *path, char *error, size_t error_size)
{
    snprintf(error, error_size,
             "cannot %s %s: %s\n---> free some room, or set TMPDIR to a "
             "directory that can be written",
             what, path, strerror(errno));
    return BUILD_ENVIRONMENT;
}

bool scratch_has_room(const char *directory)
{
    static const off_t enough = 8 << 20;
    char path[600];
    snprintf(path, sizeof path, "%.580s/.room", directory);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool ok = fd >= 0 && posix_fallocate(fd, 0, enough) == 0;
    if (fd >= 0)
        close(fd);
    unlink(path);
    return ok;
}

/* --- directories; a lock protects each while it is in use --- */

static const char held[] = ".held", prefix[] = "unseen-";

enum { HELD_MAX = 256 };
static struct {
    char directory[400];
    int fd;
} holding[HELD_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind;
    if (walk->level > 1 || (walk->level == 1 && strcmp(path + walk->base, held) != 0))
        remove(path);
    return 0;
}

/* Removes the lock's file last: if this is interrupted, the next sweep removes the rest. */
static void remove_all(const char *directory)
{
    char path[420];
    snprintf(path, sizeof path, "%.400s/%s", directory, held);
    if (nftw(directory, remove_one, WALK_DEPTH, FTW_DEPTH | FTW_PHYS) == 0) {
        unlink(path);
        rmdir(directory);
    }
}

/* Takes the directory's lock, which ends with the process. The file is locked before it gets its name, so
 * that no sweep can intervene. */
static void hold(const char *directory)
{
    char path[420], first[430];
    snprintf(path, sizeof path, "%s/%s", directory, held);
    snprintf(first, sizeof first, "%s.new", path);
    const int fd = open(first, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || rename(first, path) != 0) {
        if (fd >= 0)
            close(fd);
        return;
    }
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (i < HELD_MAX && *holding[i].directory)
        i++;
    if (i < HELD_MAX) { /* beyond that the descriptor stays open, which keeps the lock */
        snprintf(holding[i].directory, sizeof holding[i].directory, "%s", directory);
        holding[i].fd = fd;
    }
    pthread_mutex_unlock(&mutex);
}

static void let_go(const char *directory)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < HELD_MAX; i++)
        if (strcmp(holding[i].directory, directory) == 0) {
            close(holding[i].fd);
            *holding[i].directory = '\0';
        }
    pthread_mutex_unlock(&mutex);
}

/* A directory without a lock: its creator was killed before it named the lock, so it is empty. Or it is being
 * created, which takes only a moment. */
static void sweep_unheld(const char *directory)
{
    char path[430];
    struct stat status;
    if (lstat(directory, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & 07777) != 0700 || time(NULL) - status.st_mtime < MAKING_SECONDS)
        return;
    snprintf(path, sizeof path, "%.390s/%s.new", directory, held);
    unlink(path);
    rmdir(directory); /* fails if it contains anything else */
}

/* Removes a killed process's directory: its lock is free. */
static void sweep_one(const char *directory)
{
    char path[420];
    struct stat status;
    snprintf(path, sizeof path, "%.390s/%s", directory, held);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT)
            sweep_unheld(directory);
        return;
    }
    if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
        remove_all(directory);
    close(fd);
}

static void sweep(void)
{
    char path[700];
    DIR *const place = opendir(scratch_place());
    for (struct dirent *entry; place && (entry = readdir(place));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strlen(entry->d_name) == strlen(prefix) + strlen("XXXXXX")) {
            snprintf(path, sizeof path, "%.380s/%.256s", scratch_place(), entry->d_name);
            sweep_one(path);
        }
    if (place)
        closedir(place);
}

enum build_status scratch_open(char *directory, size_t size, char *error, size_t error_size)
{
    char template[400];
    int length = snprintf(template, sizeof template, "%s/%sXXXXXX", scratch_place(), prefix);
    if (length >= (int)sizeof template) {
        errno = ENAMETOOLONG;
        return scratch_no_room("make a directory in", scratch_place(), error, error_size);
    }
    char *real = mkdtemp(template) ? realpath(template, NULL) : NULL;
    if (!real || strlen(real) >= sizeof template || strlen(real) >= size) {
        free(real);
        return scratch_no_room("make a directory in", scratch_place(), error, error_size);
    }
    snprintf(directory, size, "%s", real);
    free(real);
    hold(directory);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, sweep);
    return BUILD_OK;
}

void scratch_remove(const char *directory)
{
    let_go(directory);
    remove_all(directory);
}

void scratch_remove_all(void)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (*holding[i].directory)
            remove_all(holding[i].directory);
}

static bool write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t wrote = write(fd, data, bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        data += wrote;
        bytes -= (size_t)wrote;
    }
    return true;
}

static void write_hash(struct sha256_ctx *hash, char hex[65])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(hash, sizeof digest, digest);
    hex_text(digest, sizeof digest, hex);
}

void scratch_hash(const char *text, size_t length, char hex[65])
{
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, length, (const uint8_t *)text);
    write_hash(&hash, hex);
}

int scratch_take(const char *path, const char *to, char hex[65])
{
    char buffer[16384];
    struct sha256_ctx hash;
    ssize_t got;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return -1;
    int copy = to ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
    int status = to && copy < 0 ? -2 : 0;
    sha256_init(&hash);
    while (status == 0 && (got = read(from, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = -1;
        } else {
            sha256_update(&hash, (size_t)got, (const uint8_t *)buffer);
            if (copy >= 0 && !write_all(copy, buffer, (size_t)got))
                status = -2;
        }
    }
    write_hash(&hash, hex);
    int saved = errno;
    close(from);
    if (copy >= 0 && close(copy) && status == 0)
        return -2;
    errno = saved;
    return status;
}

char *scratch_read_own(const char *path, size_t *size)
{
    struct stat status;
    char *data = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (data = malloc((size_t)status.st_size + 1)) != NULL) {
        size_t have = 0;
        ssize_t got = 1;
        while (have < (size_t)status.st_size && got > 0)
            if ((got = read(fd, data + have, (size_t)status.st_size - have)) > 0)
                have += (size_t)got;
        data[have] = '\0';
        *size = have;
    }
    close(fd);
    return data;
}
