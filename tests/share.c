#include "share.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/cli/options.h"

int share_number(const char *name, int least, int otherwise)
{
    const char *text = getenv(name);
    return text && *text && atoi(text) >= least ? atoi(text) : otherwise;
}

/* FNV-1a of the commit's name; changes in the working tree do not count. */
static int rotation_of(const char *commit)
{
    uint32_t hash = 0x811c9dc5u;
    for (const char *end = strstr(commit, "-dirty"), *c = commit; *c && c != end; c++)
        hash = (hash ^ (unsigned char)*c) * 0x01000193u;
    return (int)((hash ^ hash >> 16) & 0x7fff);
}

int share_size(void)
{
    return share_number("BATTERY_SHARE", 1, 1);
}

int share_rotation_of(int size)
{
    return share_number("BATTERY_ROTATION", 0, rotation_of(unseen_git)) % size;
}

int share_rotation(void)
{
    return share_rotation_of(share_size());
}

bool share_has(int i, int size)
{
    return share_size() <= 1 || (i + share_rotation_of(size)) % size == 0;
}
