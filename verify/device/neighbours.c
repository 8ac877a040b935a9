#include "neighbours.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MOST = 256, ANCESTORS_MOST = 64 };

static const struct nvml *nvml = &nvml_library;

void neighbours_ask(const struct nvml *other)
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

/* Is it this process or one of its descendants? A runner is a descendant with a sandbox in between. */
static bool is_ours(int pid)
{
    const int self = (int)getpid();
    for (int i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
        if (pid == self)
            return true;
        pid = parent_of(pid);
    }
    return false;
}

/* In a container NVML may list nothing, or pids of the host's namespace. A list without this process, which
 * has a context on the device, is of that kind. Then it only shows whether there are more processes than our
 * own. */
static struct neighbours count_others(const char *uuid, int children)
{
    int pid[PROCESSES_MOST], others = 0;
    bool seen = false;
    const int count = nvml->processes(uuid, pid, PROCESSES_MOST);
    for (int i = 0; i < count; i++) {
        seen = seen || pid[i] == (int)getpid();
        others += !is_ours(pid[i]);
    }
    if (!seen)
        others = count - 1 - children;
    if (others > 0)
        return (struct neighbours){NEIGHBOURS_SOME, others};
    return (struct neighbours){seen ? NEIGHBOURS_NONE : NEIGHBOURS_UNKNOWN, 0};
}

struct neighbours neighbours_of(const struct device *device, struct lease *lease, int children)
{
    if (device->backend != BACKEND_CUDA)
        return (struct neighbours){NEIGHBOURS_UNKNOWN, 0};
    const struct neighbours listed = count_others(device->uuid, children);
    if (listed.state != NEIGHBOURS_SOME && lease_is_held(lease) && !lease_is_alone(lease))
        return (struct neighbours){NEIGHBOURS_SOME, 0};
    return listed;
}

enum idle neighbours_idle(const struct device *device)
{
    const struct timespec settle = {nvml->settle_ms / 1000, nvml->settle_ms % 1000 * 1000000L};
    if (nvml->utilization(device->uuid) < 0)
        return IDLE_UNKNOWN;
    nanosleep(&settle, NULL);
    const int percent = nvml->utilization(device->uuid);
    return percent < 0 ? IDLE_UNKNOWN : percent == 0 ? IDLE_YES : IDLE_NO;
}
