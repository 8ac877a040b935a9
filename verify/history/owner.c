/* Identifies the process that began a row. A pid alone does not suffice: it is reused after a boot, and in
 * other containers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history_internal.h"

static void first_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    *text = '\0';
    if (file && fgets(text, (int)size, file))
        text[strcspn(text, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Start time in ticks since boot: field 22, after a name that may contain any characters. "": no such
 * process. */
static void started(long pid, char *text, size_t size)
{
    enum { FIELDS_BETWEEN = 19 };
    char path[64], stat[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    first_line(path, stat, sizeof stat);
    const char *at = strrchr(stat, ')');
    for (int i = 0; at && i <= FIELDS_BETWEEN; i++)
        at = strchr(at + 1, ' ');
    snprintf(text, size, "%.*s", at ? (int)strcspn(at + 1, " ") : 0, at ? at + 1 : "");
}

static void place(char *text, size_t size)
{
    char boot[64], space[48];
    first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[length > 0 ? length : 0] = '\0';
    snprintf(text, size, "%s %s", boot, space);
}

void owner_of_this(char owner[OWNER_SIZE])
{
    char start[32], where[120];
    started((long)getpid(), start, sizeof start);
    place(where, sizeof where);
    snprintf(owner, OWNER_SIZE, "%ld %s %.100s", (long)getpid(), start, where);
}

bool owner_is_gone(const char *owner)
{
    char then[32], now[32], where[120], here[120];
    long pid;
    if (sscanf(owner, "%ld %31s %119[^\n]", &pid, then, where) != 3)
        return false;
    place(here, sizeof here);
    if (strcmp(where, here) != 0)
        return false;
    started(pid, now, sizeof now);
    return strcmp(then, now) != 0;
}
