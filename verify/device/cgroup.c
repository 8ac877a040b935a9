#include "cgroup.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* Reads the limit in one group's folder; infinity: no limit. */
typedef double bound(const char *folder);

/* Reads the first line of a file in that folder; false if there is none. */
static bool read_line(const char *folder, const char *name, char *line, size_t size)
{
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    const bool ok = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    return ok;
}

/* Version 2 has "150000 100000": microseconds of CPU time per period. "max 100000" means no limit. */
static double cores_of(const char *folder)
{
    char line[64];
    double quota = 0, period = 0;
    if (read_line(folder, "cpu.max", line, sizeof line))
        return sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : INFINITY;
    /* version 1; a quota of -1 means no limit */
    if (!read_line(folder, "cpu.cfs_quota_us", line, sizeof line) || sscanf(line, "%lf", &quota) != 1 ||
        quota <= 0)
        return INFINITY;
    if (!read_line(folder, "cpu.cfs_period_us", line, sizeof line) || sscanf(line, "%lf", &period) != 1 ||
        period <= 0)
        return INFINITY;
    return quota / period;
}

/* "max" means no limit; version 1 writes the largest number of whole pages instead. */
static double memory_of(const char *folder)
{
    static const double endless = 1 << 30;
    char line[64];
    double bytes;
    if (!read_line(folder, "memory.max", line, sizeof line) &&
        !read_line(folder, "memory.limit_in_bytes", line, sizeof line))
        return INFINITY;
    return sscanf(line, "%lf", &bytes) == 1 && bytes < endless * endless ? bytes : INFINITY;
}

/* The smallest limit from the group itself up to the root, since every ancestor may be tighter. In a
 * container without its own cgroup namespace, the path is the host's, and only its root exists. */
static double least_of_chain(const char *root, const char *group, bound *bound)
{
    char folder[PATH_SIZE];
    double least = INFINITY;
    const int written = snprintf(folder, sizeof folder, "%s%s", root, strcmp(group, "/") == 0 ? "" : group);
    if (written < 0 || (size_t)written >= sizeof folder)
        return INFINITY;
    while (strlen(folder) >= strlen(root)) {
        least = fmin(least, bound(folder));
        char *slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    return least;
}

/* Is `name` among the comma-separated names? */
static bool has_name(const char *names, size_t length, const char *name)
{
    for (size_t at = 0; at < length;) {
        const size_t word = strcspn(names + at, ",:");
        if (word == strlen(name) && strncmp(names + at, name, word) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

/* Parses lines "0::/group" (version 2) and "4:cpu,cpuacct:/group" (version 1, below root/cpu). */
static double least_of_all(const char *membership, const char *root, const char *controller, bound *bound)
{
    double least = INFINITY;
    char group[PATH_SIZE], base[PATH_SIZE];
    for (const char *line = membership; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *names = memchr(line, ':', length);
        const char *path = names ? memchr(names + 1, ':', length - (size_t)(names + 1 - line)) : NULL;
        if (path) {
            const size_t named = (size_t)(path - names - 1);
            snprintf(group, sizeof group, "%.*s", (int)(length - (size_t)(path + 1 - line)), path + 1);
            snprintf(base, sizeof base, "%.4000s%s%.16s", root, named == 0 ? "" : "/",
                     named == 0 ? "" : controller);
            if (named == 0 || has_name(names + 1, named, controller))
                least = fmin(least, least_of_chain(base, group, bound));
        }
        line += length + (line[length] == '\n');
    }
    return least;
}

static double look(const char *membership, const char *root, const char *controller, bound *bound)
{
    char own[PATH_SIZE];
    if (membership)
        return least_of_all(membership, root, controller, bound);
    FILE *file = fopen("/proc/self/cgroup", "re");
    const size_t got = file ? fread(own, 1, sizeof own - 1, file) : 0;
    own[got] = '\0';
    if (file)
        fclose(file);
    return least_of_all(own, "/sys/fs/cgroup", controller, bound);
}

double cgroup_cores(const char *membership, const char *root)
{
    return look(membership, root, "cpu", cores_of);
}

double cgroup_memory(const char *membership, const char *root)
{
    return look(membership, root, "memory", memory_of);
}
