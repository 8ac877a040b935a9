#include "processors.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/system/clock.h"

enum { PATH_SIZE = 4096, CPUS_FIRST = 1024, CPUS_MOST = 1 << 20 };

/* --- quota --- */

/* The first line of a file; false where there is none. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    const bool ok = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    return ok;
}

/* "150000 100000" of version 2: microseconds of CPU in each period; "max 100000": no limit. */
static double folder_quota(const char *folder)
{
    char path[PATH_SIZE + 32], line[64];
    double quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_line(path, line, sizeof line))
        return sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : INFINITY;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder); /* version 1; -1: no limit */
    if (!read_line(path, line, sizeof line) || sscanf(line, "%lf", &quota) != 1 || quota <= 0)
        return INFINITY;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (!read_line(path, line, sizeof line) || sscanf(line, "%lf", &period) != 1 || period <= 0)
        return INFINITY;
    return quota / period;
}

/* From the group itself up to the root: every group above may be tighter. Without a namespace of its own a
 * container sees the host's path, of which only the root exists in it. */
static double chain_quota(const char *root, const char *group)
{
    char folder[PATH_SIZE];
    double least = INFINITY;
    const int written = snprintf(folder, sizeof folder, "%s%s", root, strcmp(group, "/") == 0 ? "" : group);
    if (written < 0 || (size_t)written >= sizeof folder)
        return INFINITY;
    while (strlen(folder) >= strlen(root)) {
        least = fmin(least, folder_quota(folder));
        char *slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    return least;
}

/* Is "cpu" among the comma-separated names? */
static bool has_cpu(const char *names, size_t length)
{
    for (size_t at = 0; at < length;) {
        const size_t word = strcspn(names + at, ",:");
        if (word == 3 && strncmp(names + at, "cpu", 3) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

/* Lines "0::/group" (version 2) and "4:cpu,cpuacct:/group" (version 1, below root/cpu). */
double processors_quota(const char *membership, const char *root)
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
            snprintf(base, sizeof base, "%.4000s%s", root, named == 0 ? "" : "/cpu");
            if (named == 0 || has_cpu(names + 1, named))
                least = fmin(least, chain_quota(base, group));
        }
        line += length + (line[length] == '\n');
    }
    return least;
}

static double own_quota(void)
{
    char membership[PATH_SIZE];
    FILE *file = fopen("/proc/self/cgroup", "re");
    const size_t got = file ? fread(membership, 1, sizeof membership - 1, file) : 0;
    membership[got] = '\0';
    if (file)
        fclose(file);
    return processors_quota(membership, "/sys/fs/cgroup");
}

/* --- affinity --- */

/* The kernel refuses a mask that is smaller than its own. */
static int affine_cores(void)
{
    for (int cpus = CPUS_FIRST; cpus <= CPUS_MOST; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        const size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int count = 0;
        if (!set)
            return 1;
        errno = 0;
        if (sched_getaffinity(0, size, set) == 0)
            count = CPU_COUNT_S(size, set);
        const bool larger = count == 0 && errno == EINVAL;
        CPU_FREE(set);
        if (!larger)
            return count > 0 ? count : 1;
    }
    return 1;
}

/* --- load --- */

/* "0.20 0.18 0.12 3/1234 5678": of all 1234 threads 3 are on a core or wait for one; the one that reads this among them. */
static int running_threads(void)
{
    char line[128];
    int running;
    return read_line("/proc/loadavg", line, sizeof line) && sscanf(line, "%*f %*f %*f %d/", &running) == 1
               ? running
               : 0;
}

/* This process's own: workers beside this one, and the teams that they have. */
static int own_running_threads(void)
{
    char path[320], line[512];
    int count = 0;
    const struct dirent *entry;
    DIR *threads = opendir("/proc/self/task");
    while (threads && (entry = readdir(threads))) {
        snprintf(path, sizeof path, "/proc/self/task/%.255s/stat", entry->d_name);
        const char *const state =
            entry->d_name[0] != '.' && read_line(path, line, sizeof line) ? strrchr(line, ')') : NULL;
        count += state && strncmp(state, ") R", 3) == 0;
    }
    if (threads)
        closedir(threads);
    return count;
}

int processors_share(int wanted, int online, double others)
{
    const double left = floor(online - others + 0.5);
    return left < 1 ? 1 : left < wanted ? (int)left : wanted;
}

int processors_team(int wanted)
{
    static const double pause = 0.05, weight = 0.5; /* of a look, seconds and against those before */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static double others = -1, next;
    pthread_mutex_lock(&lock);
    if (clock_seconds() >= next) {
        const int now = running_threads() - own_running_threads();
        others = others < 0 ? now : weight * now + (1 - weight) * others;
        next = clock_seconds() + pause;
    }
    const int team = processors_share(wanted, (int)sysconf(_SC_NPROCESSORS_ONLN), others);
    pthread_mutex_unlock(&lock);
    return team;
}

int processors_available(void)
{
    const char *const asked = getenv("OMP_NUM_THREADS");
    const long wanted = asked ? strtol(asked, NULL, 10) : 0;
    double cores = fmin(affine_cores(), ceil(own_quota()));
    if (wanted > 0)
        cores = fmin(cores, (double)wanted);
    return cores > 1 ? (int)cores : 1;
}
