#include "object_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/record/atomic.h"
#include "scratch.h"
#include "verify/util/home_folder.h"

/* Each of 16 folders is bounded by itself, so that one more object costs a look at a 16th of the store. */
enum { FOLDERS = 16, HEX = 64 };
static const off_t most_bytes = (off_t)2 << 30;

static bool disabled;

void object_store_enable(bool on)
{
    disabled = !on;
}

bool object_store_is_on(void)
{
    return !disabled;
}

/* The folder of the key, created where it does not exist, and the path of its file. */
static bool locate(const char *key, char folder[1000], char path[1100])
{
    char home[900], why[400];
    if (disabled || strlen(key) != HEX || !cache_folder(home, sizeof home, why, sizeof why))
        return false;
    snprintf(folder, 1000, "%s/objects/%.1s", home, key);
    snprintf(path, 1100, "%s/%s", folder, key);
    return home_make(folder);
}

/* SHA-256 of the object and its key. `data` has room for the key behind the object. */
static void sign(char *data, size_t size, const char *key, char hex[HEX + 1])
{
    memcpy(data + size, key, HEX);
    scratch_hash(data, size + HEX, hex);
}

static bool write_new(const char *path, const char *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
    size_t written = 0;
    ssize_t wrote = 1;
    if (fd < 0)
        return false;
    while (written < size && wrote > 0)
        if ((wrote = write(fd, data + written, size - written)) > 0)
            written += (size_t)wrote;
    if (close(fd) == 0 && written == size)
        return true;
    unlink(path);
    return false;
}

bool object_store_take(const char *key, const char *to)
{
    char folder[1000], path[1100], kept[HEX], hex[HEX + 1];
    size_t size = 0;
    if (!locate(key, folder, path))
        return false;
    char *const data = scratch_read_own(path, &size);
    bool whole = data && size > HEX;
    if (whole) {
        size -= HEX;
        memcpy(kept, data + size, HEX);
        sign(data, size, key, hex);
        whole = memcmp(kept, hex, HEX) == 0;
    }
    if (data && !whole)
        unlink(path);
    if (whole)
        utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* it is now the most recently used */
    const bool taken = whole && write_new(to, data, size);
    free(data);
    return taken;
}

void object_store_keep(const char *key, const char *object)
{
    char folder[1000], path[1100], hex[HEX + 1], ignored[600];
    size_t size = 0;
    if (!locate(key, folder, path))
        return;
    char *const data = scratch_read_own(object, &size);
    char *const entry = data && (off_t)size < most_bytes / FOLDERS ? realloc(data, size + HEX + 1) : NULL;
    if (!entry) {
        free(data);
        return;
    }
    sign(entry, size, key, hex);
    memcpy(entry + size, hex, HEX);
    if (atomic_replace(path, "kept object", entry, size + HEX, ignored, sizeof ignored) == 0)
        object_store_trim(folder, most_bytes / FOLDERS);
    free(entry);
}

/* --- the bound --- */

struct kept_file {
    char name[256];
    struct timespec used;
    off_t bytes;
};

static int by_last_use(const void *a, const void *b)
{
    const struct timespec *const one = &((const struct kept_file *)a)->used;
    const struct timespec *const other = &((const struct kept_file *)b)->used;
    if (one->tv_sec != other->tv_sec)
        return one->tv_sec < other->tv_sec ? -1 : 1;
    return (one->tv_nsec > other->tv_nsec) - (one->tv_nsec < other->tv_nsec);
}

/* Lists the folder's files; what other writers have not finished counts as well. */
static struct kept_file *list_files(DIR *directory, int *count, off_t *total)
{
    struct kept_file *list = NULL;
    struct stat status;
    int room = 0;
    *count = 0;
    *total = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(status.st_mode))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 64;
            struct kept_file *const grown = realloc(list, (size_t)room * sizeof *list);
            if (!grown)
                break;
            list = grown;
        }
        struct kept_file *const file = &list[(*count)++];
        snprintf(file->name, sizeof file->name, "%s", entry->d_name);
        file->used = status.st_mtim;
        file->bytes = status.st_size;
        *total += status.st_size;
    }
    return list;
}

void object_store_trim(const char *folder, off_t most)
{
    DIR *const directory = opendir(folder);
    int count;
    off_t total;
    if (!directory)
        return;
    struct kept_file *const list = list_files(directory, &count, &total);
    if (list && total > most)
        qsort(list, (size_t)count, sizeof *list, by_last_use);
    for (int i = 0; list && i < count && total > most; i++)
        if (unlinkat(dirfd(directory), list[i].name, 0) == 0)
            total -= list[i].bytes;
    free(list);
    closedir(directory);
}
