#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"
#include "verify/build/scratch.h"
#include "verify/util/home_folder.h"

enum { HEX = 2 * SHA256_DIGEST_SIZE, FOOTER = 16 + 1 + HEX + 1 };

/* --- location --- */

void cache_open(struct cache_slot *slot, const char *name)
{
    char directory[900], lock[1300];
    *slot = (struct cache_slot){.lock = -1};
    if (!cache_folder(directory, sizeof directory, slot->why, sizeof slot->why))
        return;
    snprintf(slot->path, sizeof slot->path, "%s/%s", directory, name);
    snprintf(lock, sizeof lock, "%s.lock", slot->path);
    slot->lock = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    while (slot->lock >= 0 && flock(slot->lock, LOCK_EX) != 0 && errno == EINTR)
        ;
}

void cache_close(struct cache_slot *slot)
{
    if (slot->lock >= 0)
        close(slot->lock);
    slot->lock = -1;
}

/* --- reading --- */

/* The lines after the object, NUL-terminated in place; NULL if the file is incomplete. */
static char *find_lines(char *data, size_t size)
{
    char hex[HEX + 1], *end = NULL;
    if (size < FOOTER)
        return NULL;
    char *footer = data + size - FOOTER;
    const unsigned long long bytes = strtoull(footer, &end, 16);
    if (end != footer + 16 || bytes > size - FOOTER)
        return NULL;
    scratch_hash(data, size - HEX - 1, hex);
    if (memcmp(hex, footer + 17, HEX) != 0)
        return NULL;
    *footer = '\0';
    return footer - bytes;
}

static bool is_same(const char *line)
{
    char hex[65];
    return strlen(line) > HEX + 1 && scratch_take(line + HEX + 1, NULL, hex) == 0 &&
           memcmp(hex, line, HEX) == 0;
}

bool cache_holds(const struct cache_slot *slot, const char *key)
{
    size_t size = 0;
    char *data = *slot->path ? scratch_read_own(slot->path, &size) : NULL, *rest = NULL;
    char *lines = data ? find_lines(data, size) : NULL;
    const char *line = lines ? strtok_r(lines, "\n", &rest) : NULL;
    bool holds = line && strcmp(line, key) == 0;
    while (holds && (line = strtok_r(NULL, "\n", &rest)) != NULL)
        holds = is_same(line);
    free(data);
    return holds;
}

/* --- writing --- */

/* A file that changed after the compiler began may not be what the compiler read. */
static bool is_settled(const char *path, const struct timespec *began)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    return status.st_mtim.tv_sec < began->tv_sec ||
           (status.st_mtim.tv_sec == began->tv_sec && status.st_mtim.tv_nsec <= began->tv_nsec);
}

/* Concatenates object, lines and footer. NULL: a source is missing or has changed, or out of memory. */
static char *make_entry(const char *object, const char *key, char *const *sources,
                        const struct timespec *began, size_t *size)
{
    size_t object_size = 0;
    char hex[65], *text = NULL, *data = scratch_read_own(object, &object_size);
    bool settled = data != NULL;
    FILE *out = open_memstream(&text, size);
    if (out && data)
        fwrite(data, 1, object_size, out);
    if (out)
        fprintf(out, "%s\n", key);
    for (int i = 0; out && settled && sources[i]; i++) {
        settled = scratch_take(sources[i], NULL, hex) == 0 && is_settled(sources[i], began);
        fprintf(out, "%s %s\n", hex, sources[i]);
    }
    free(data);
    if (out && fflush(out) == 0)
        fprintf(out, "%016zx ", *size - object_size);
    if (out && fflush(out) == 0) {
        scratch_hash(text, *size, hex);
        fprintf(out, "%s\n", hex);
    }
    if (out && fclose(out) == 0 && settled)
        return text;
    free(text);
    return NULL;
}

bool cache_keep(struct cache_slot *slot, const char *path, const char *key, char *const *sources,
                const struct timespec *began)
{
    char temporary[1300];
    size_t size = 0, written = 0;
    if (slot->why[0])
        return false;
    char *entry = make_entry(path, key, sources, began, &size);
    if (!entry)
        return false;
    /* Under the slot's lock one name suffices. A killed process may have left the file. It is unlinked and
     * never opened, since a hard link or a pipe may have been planted there. */
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", slot->path, slot->lock >= 0 ? 0 : (long)getpid());
    unlink(temporary);
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t wrote = 1;
    while (fd >= 0 && written < size && wrote > 0)
        if ((wrote = write(fd, entry + written, size - written)) > 0)
            written += (size_t)wrote;
    bool kept = fd >= 0 && written == size;
    kept = fd >= 0 && close(fd) == 0 && kept && rename(temporary, slot->path) == 0;
    if (!kept) {
        snprintf(slot->why, sizeof slot->why, "%.300s: %s", slot->path, strerror(errno));
        if (fd >= 0)
            unlink(temporary);
    }
    free(entry);
    return kept;
}
