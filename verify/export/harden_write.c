#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harden.h"

enum { FILES = 6 };

struct file {
    char name[128];
    void (*write)(FILE *out, const struct hardened *hardened);
};

static void list_files(struct file file[FILES], const struct hardened *h)
{
    static void (*const writers[FILES])(FILE *, const struct hardened *) = {
        harden_write_module, harden_write_shapes, harden_write_workloads,
        harden_write_tests,  harden_write_json,   harden_write_page};
    static const char *const names[FILES] = {NULL,        "shapes.py",   "workloads.jsonl",
                                             "tests.txt", "harden.json", "HARDEN.md"};
    for (int i = 0; i < FILES; i++) {
        snprintf(file[i].name, sizeof file[i].name, "%s%s", i ? names[i] : h->name, i ? "" : ".py");
        file[i].write = writers[i];
    }
}

static int write_one(const struct file *file, const struct hardened *h, const char *path)
{
    FILE *out = fopen(path, "wxe");
    if (!out)
        return -1;
    file->write(out, h);
    const bool failed = fflush(out) != 0 || ferror(out) || fsync(fileno(out)) != 0;
    const int reason = errno;
    if (fclose(out) != 0 || failed) {
        errno = failed ? reason : errno;
        return -1;
    }
    return 0;
}

static void remove_all(const struct file file[FILES], const char *directory)
{
    char path[4300];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, file[i].name);
        unlink(path);
    }
    rmdir(directory);
}

int harden_write(const struct hardened *h, const char *directory, char *text, size_t size)
{
    struct file file[FILES];
    char path[4300];
    list_files(file, h);
    if (mkdir(directory, 0755) != 0) {
        snprintf(text, size, "cannot make %s: %s\n---> remove it, or choose another place with --out",
                 directory, strerror(errno));
        return -1;
    }
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, file[i].name);
        if (write_one(&file[i], h, path) != 0) {
            snprintf(text, size,
                     "cannot write %s: %s\n---> free some room, or choose another place with --out", path,
                     strerror(errno));
            remove_all(file, directory);
            return -1;
        }
    }
    return 0;
}
