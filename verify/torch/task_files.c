#include "task_files.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Takes the path if there is such a file. */
static void take(char path[TASK_FILES][PATH_MAX], int *count, const char *found)
{
    if (*count < TASK_FILES && strlen(found) < PATH_MAX && access(found, R_OK) == 0)
        snprintf(path[(*count)++], PATH_MAX, "%s", found);
}

int task_files(const char *source, char path[TASK_FILES][PATH_MAX])
{
    char found[2 * PATH_MAX], folder[PATH_MAX], name[256];
    int count = 0;
    const char *const slash = strrchr(source, '/'), *const dot = strrchr(source, '.');
    take(path, &count, source);
    if (!slash || !dot || dot < slash) {
        snprintf(found, sizeof found, "%s/task.yml", source);
        const bool shared = access(found, R_OK) == 0;
        snprintf(found, sizeof found, "%.*s/utils.py", slash ? (int)(slash - source) : 0, source);
        if (shared)
            take(path, &count, found);
        return count;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - source), source);
    snprintf(name, sizeof name, "%.*s", (int)(dot - slash - 1), slash + 1);
    if (strcmp(dot, ".py") == 0) {
        snprintf(found, sizeof found, "%s/%.255s.json", folder, name);
        take(path, &count, found);
        snprintf(found, sizeof found, "%s/../../../utils/data_utils.py", folder);
        take(path, &count, found);
    } else if (strcmp(dot, ".json") == 0) {
        const char *const kind = strrchr(folder, '/');
        snprintf(found, sizeof found, "%s/%.255s.jsonl", folder, name);
        take(path, &count, found);
        snprintf(found, sizeof found, "%.4000s/../../workloads%.1000s/%.255s.jsonl", folder, kind ? kind : "",
                 name);
        take(path, &count, found);
    }
    return count;
}
