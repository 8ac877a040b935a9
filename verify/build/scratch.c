#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WALK_DEPTH = 16 };

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

enum build_status scratch_open(char *directory, size_t size, char *error, size_t error_size)
{
    char template[400];
    int length = snprintf(template, sizeof template, "%s/unseen-XXXXXX", scratch_place());
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
    return BUILD_OK;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void scratch_remove(const char *directory)
{
    nftw(directory, remove_one, WALK_DEPTH, FTW_DEPTH | FTW_PHYS);
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

int scratch_take(const char *path, const char *to, char hex[65])
{
    char buffer[16384];
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    ssize_t got;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return -1;
    int copy = to ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
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
    sha256_digest(&hash, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    int saved = errno;
    close(from);
    if (copy >= 0 && close(copy) && status == 0)
        return -2;
    errno = saved;
    return status;
}
