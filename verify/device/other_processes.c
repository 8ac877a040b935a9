#include "other_processes.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MOST = 256, ANCESTORS_MOST = 64 };

static const struct nvml *nvml = &nvml_library;

void other_processes_ask(const struct nvml *other)
{
    nvml = other ? other : &nvml_library;
}

/* Returns the parent's pid, or 0 if there is no such process. The name in parentheses may contain blanks and
 * parentheses itself. */
static int parent_of(int pid)
{
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* Is it process `first` or one of its descendants? A runner is a descendant with a sandbox in between. */
static bool is_ours(int pid, int first)
{
    for (int i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
        if (pid == first)
            return true;
        pid = parent_of(pid);
    }
    return false;
}

/* In a container NVML may list nothing, or pids of the host's namespace. A list without this process, which
 * has a context on the device, is of that kind. Then it only shows whether there are more processes than our
 * own. */
static struct other_processes count_others(const char *uuid, int children, int family)
{
    const int first = family > 0 ? family : (int)getpid();
    int pid[PROCESSES_MOST], others = 0;
    bool seen = false;
    const int count = nvml->processes(uuid, pid, PROCESSES_MOST);
    for (int i = 0; i < count; i++) {
        seen = seen || pid[i] == (int)getpid();
        others += !is_ours(pid[i], first);
    }
    if (!seen)
        others = count - 1 - children;
    if (others > 0)
        return (struct other_processes){OTHER_PROCESSES_SOME, others};
    return (struct other_processes){seen ? OTHER_PROCESSES_NONE : OTHER_PROCESSES_UNKNOWN, 0};
}

struct other_processes other_processes_of(const struct device *device, struct lease *lease, int children,
                                          int family)
{
    if (device->backend != BACKEND_CUDA)
        return (struct other_processes){OTHER_PROCESSES_UNKNOWN, 0};
    const struct other_processes listed = count_others(device->uuid, children, family);
    /* the family's other members hold no lease, but they are known */
    if (family > 0 && listed.state == OTHER_PROCESSES_NONE)
        return listed;
    if (listed.state != OTHER_PROCESSES_SOME && lease_is_held(lease) && !lease_is_alone(lease))
        return (struct other_processes){OTHER_PROCESSES_SOME, 0};
    return listed;
}

enum idle other_processes_idle(const struct device *device)
{
    const struct timespec settle = {nvml->settle_ms / 1000, nvml->settle_ms % 1000 * 1000000L};
    if (nvml->utilization(device->uuid) < 0)
        return IDLE_UNKNOWN;
    nanosleep(&settle, NULL);
    const int percent = nvml->utilization(device->uuid);
    return percent < 0 ? IDLE_UNKNOWN : percent == 0 ? IDLE_YES : IDLE_NO;
}
