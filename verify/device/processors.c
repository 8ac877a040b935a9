#include "processors.h"

#include <dirent.h>
#include <errno.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "verify/util/clock.h"

enum { CPUS_FIRST = 1024, CPUS_MOST = 1 << 20 };

/* Reads the first line of a file; false if there is none. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    const bool ok = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    return ok;
}

/* --- affinity --- */

/* The kernel rejects a mask that is smaller than its own, so the size is doubled until it fits. */
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

/* "0.20 0.18 0.12 3/1234 5678": 3 of 1234 threads are running or waiting for a core, including the one that
 * reads this. */
static int running_threads(void)
{
    char line[128];
    int running;
    return read_line("/proc/loadavg", line, sizeof line) && sscanf(line, "%*f %*f %*f %d/", &running) == 1
               ? running
               : 0;
}

/* Running threads of this process: its workers and their teams. */
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
    /* seconds between two readings; weight of a new reading in the running mean */
    static const double pause = 0.05, weight = 0.5;
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
    double cores = fmin(affine_cores(), ceil(cgroup_cores(NULL, NULL)));
    if (wanted > 0)
        cores = fmin(cores, (double)wanted);
    return cores > 1 ? (int)cores : 1;
}
