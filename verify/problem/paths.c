#include "paths.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const places[] = {"..", "../share/unseen", "../.."};
enum { PLACE_INSTALLED = 1, PLACES = sizeof places / sizeof *places };

/* The index of the place where the file exists; -1: none, and path names the first place, or is not set. */
static int find_place(char *path, size_t size, const char *name)
{
    char self[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return -1;
    self[length] = '\0';
    const char *directory = dirname(self);
    for (int i = 0; i < PLACES; i++) {
        snprintf(path, size, "%s/%s/%s", directory, places[i], name);
        char *real = realpath(path, NULL); /* removes ".." for readability */
        if (real)
            snprintf(path, size, "%s", real);
        free(real);
        if (access(path, F_OK) == 0)
            return i;
    }
    snprintf(path, size, "%s/%s/%s", directory, places[0], name);
    return -1;
}

int paths_find(char *path, size_t size, const char *name)
{
    return find_place(path, size, name) >= 0 ? 0 : -1;
}

bool paths_installed(void)
{
    char path[1200];
    return find_place(path, sizeof path, "problems/problem.h") == PLACE_INSTALLED;
}

int paths_shape(char *path, size_t size, const char *name)
{
    char whole[256];
    snprintf(whole, sizeof whole, "shapes/%s", name);
    return paths_find(path, size, whole);
}

int paths_root(char *path, size_t size)
{
    static const char known[] = "problems/problem.h";
    if (paths_find(path, size, known) != 0)
        return -1;
    path[strlen(path) - sizeof known] = '\0'; /* and the slash before it */
    return 0;
}
