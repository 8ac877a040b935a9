#include "home_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The specification of $XDG_... says to ignore relative values. */
bool home_folder(char *directory, size_t size, const char *variable, const char *otherwise)
{
    const char *const given = getenv(variable), *const home = getenv("HOME");
    int length = -1;
    if (given && *given == '/')
        length = snprintf(directory, size, "%s/unseen", given);
    else if (home && *home == '/')
        length = snprintf(directory, size, "%s/%s/unseen", home, otherwise);
    return length >= 0 && length < (int)size;
}

bool home_make(char *directory)
{
    for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int made = mkdir(directory, 0700);
        *slash = '/';
        if (made != 0 && errno != EEXIST)
            return false;
    }
    return mkdir(directory, 0700) == 0 || errno == EEXIST;
}

bool cache_folder(char *directory, size_t size, char *why, size_t why_size)
{
    if (!home_folder(directory, size, "XDG_CACHE_HOME", ".cache")) {
        snprintf(why, why_size, "neither XDG_CACHE_HOME nor HOME names a directory");
        return false;
    }
    if (home_make(directory))
        return true;
    snprintf(why, why_size, "%.300s: %s", directory, strerror(errno));
    return false;
}
