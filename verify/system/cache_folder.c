#include "cache_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A relative $XDG_CACHE_HOME is to be ignored, says its specification. */
static bool find_directory(char *directory, size_t size, char *why, size_t why_size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache && *cache == '/')
        length = snprintf(directory, size, "%s/unseen", cache);
    else if (home && *home == '/')
        length = snprintf(directory, size, "%s/.cache/unseen", home);
    else {
        snprintf(why, why_size, "neither XDG_CACHE_HOME nor HOME names a directory");
        return false;
    }
    if (length < (int)size)
        return true;
    snprintf(why, why_size, "its path is too long");
    return false;
}

static bool make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int made = mkdir(path, 0700);
        *slash = '/';
        if (made != 0 && errno != EEXIST)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool cache_folder(char *directory, size_t size, char *why, size_t why_size)
{
    if (!find_directory(directory, size, why, why_size))
        return false;
    if (make_directories(directory))
        return true;
    snprintf(why, why_size, "%.300s: %s", directory, strerror(errno));
    return false;
}
