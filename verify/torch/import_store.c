#include "import_store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "task_files.h"
#include "verify/build/object_store.h"
#include "verify/build/scratch.h"
#include "verify/sandbox/sandbox.h"

/* Raise RECIPE when equal sources begin to give another folder although our Python package is the same. */
enum { RECIPE = 1, FILES_MOST = 1000, DEPTH_MOST = 8 };
static const off_t BYTES_MOST = 32 << 20;

void imported_file_name(int i, const char *name, char file[IMPORTED_NAME])
{
    static const char *const endings[IMPORTED_FILES] = {"task", "space", "seen", "host.seen"};
    if (i < 4)
        snprintf(file, IMPORTED_NAME, "%.80s.%s", name, endings[i]);
    else
        snprintf(file, IMPORTED_NAME, "%s", i == 4 ? "README.md" : "source.py");
}

/* --- the key --- */

struct listing {
    FILE *out;
    const char *ending; /* of the files that count; NULL: all do */
    int files;
    off_t bytes;
};

static bool list_file(struct listing *listing, const char *path)
{
    char hex[65];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || ++listing->files > FILES_MOST ||
        (listing->bytes += status.st_size) > BYTES_MOST || scratch_take(path, NULL, hex) != 0)
        return false;
    fprintf(listing->out, "file %s %s\n", path, hex);
    return true;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "__pycache__") != 0;
}

/* Lists the files below a folder with their hashes, in the order of their names. */
static bool list_folder(struct listing *listing, const char *folder, int depth)
{
    struct dirent **entry;
    const int count = depth < DEPTH_MOST ? scandir(folder, &entry, is_visible, alphasort) : -1;
    bool ok = count >= 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        const char *const ending = strrchr(entry[i]->d_name, '.');
        const bool counts = !listing->ending || (ending && strcmp(ending, listing->ending) == 0);
        const bool fits = snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name) < (int)sizeof path &&
                          stat(path, &status) == 0;
        if (ok && fits && S_ISDIR(status.st_mode))
            ok = list_folder(listing, path, depth + 1);
        else if (ok && counts)
            ok = fits && list_file(listing, path);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return ok;
}

/* Without a sandbox a source may read files that the key does not know. These words are how. */
static bool may_read_more(const char *path)
{
    static const char *const words[] = {"open(", "load(",         "__file__", "environ",
                                        "exec",  "import_module", "pathlib",  "process"};
    size_t size;
    char *const text = scratch_read_own(path, &size);
    bool found = !text;
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++)
        found = strstr(text, words[i]) != NULL;
    free(text);
    return found;
}

static bool list_one(struct listing *listing, const char *source)
{
    struct stat status;
    if (stat(source, &status) != 0 ||
        (!sandbox_works() && (S_ISDIR(status.st_mode) || may_read_more(source))))
        return false;
    return S_ISDIR(status.st_mode) ? list_folder(listing, source, 0) : list_file(listing, source);
}

static bool list_source(struct listing *listing, const char *source)
{
    char path[TASK_FILES][PATH_MAX];
    const int count = task_files(source, path);
    bool ok = count > 0;
    for (int i = 0; i < count && ok; i++)
        ok = list_one(listing, path[i]);
    return ok;
}

bool import_store_key(const struct interpreter *it, const struct importing *importing, const char *source,
                      const char *name, char key[65])
{
    char *text = NULL, package[PATH_MAX];
    size_t size = 0;
    FILE *const out = object_store_is_on() && *it->python.packages ? open_memstream(&text, &size) : NULL;
    struct listing sources = {.out = out}, ours = {.out = out, .ending = ".py"};
    if (!out)
        return false;
    snprintf(package, sizeof package, "%s", it->start);
    *strrchr(package, '/') = '\0';
    fprintf(out, "import %d\nname %s\nvary %s\nform %s\npython %s %s\ntorch %s %s\npackages %s\n", RECIPE,
            name, importing->vary ? importing->vary : "", importing->form ? importing->form : "",
            it->python.path, it->python.version, it->python.torch, it->python.cuda, it->python.packages);
    const bool known = list_source(&sources, source) && list_folder(&ours, package, 0);
    const bool written = fclose(out) == 0;
    if (written)
        scratch_hash(text, size, key);
    free(text);
    return written && known;
}

/* --- the files, in one: for each "NAME BYTES" and a newline, then its content --- */

static void name_archive(const char *scratch, char path[700])
{
    snprintf(path, 700, "%.600s/.archive", scratch);
}

static bool write_file(const char *folder, const char *name, const char *data, size_t size)
{
    char path[900];
    snprintf(path, sizeof path, "%.700s/%s", folder, name);
    FILE *const file = fopen(path, "wxe");
    if (!file)
        return false;
    const bool wrote = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && wrote;
}

static bool unpack(const char *data, size_t size, const char *name, const char *folder)
{
    for (int i = 0; i < IMPORTED_FILES; i++) {
        char file[IMPORTED_NAME], found[IMPORTED_NAME] = "";
        size_t bytes = 0;
        const char *const line = memchr(data, '\n', size);
        imported_file_name(i, name, file);
        if (!line || sscanf(data, "%95s %zu", found, &bytes) != 2 || strcmp(found, file) != 0 ||
            bytes > size - (size_t)(line + 1 - data) || !write_file(folder, file, line + 1, bytes))
            return false;
        size -= (size_t)(line + 1 - data) + bytes;
        data = line + 1 + bytes;
    }
    return size == 0;
}

bool import_store_take(const char *key, const char *name, const char *folder, const char *scratch)
{
    char path[700];
    size_t size = 0;
    name_archive(scratch, path);
    if (!object_store_take(key, path))
        return false;
    char *const data = scratch_read_own(path, &size);
    const bool taken = data && unpack(data, size, name, folder);
    free(data);
    unlink(path);
    return taken;
}

void import_store_keep(const char *key, const char *name, const char *folder, const char *scratch)
{
    char path[700];
    name_archive(scratch, path);
    FILE *const out = fopen(path, "wxe");
    bool ok = out != NULL;
    for (int i = 0; i < IMPORTED_FILES && ok; i++) {
        char file[IMPORTED_NAME], from[900];
        size_t size = 0;
        imported_file_name(i, name, file);
        snprintf(from, sizeof from, "%.700s/%s", folder, file);
        char *const data = scratch_read_own(from, &size);
        ok = data && fprintf(out, "%s %zu\n", file, size) > 0 && fwrite(data, 1, size, out) == size;
        free(data);
    }
    if (out && fclose(out) == 0 && ok)
        object_store_keep(key, path);
    unlink(path);
}
