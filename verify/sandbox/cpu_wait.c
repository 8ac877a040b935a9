#include "cpu_wait.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads field 6 of /proc/PID/stat. The name in parentheses may contain blanks and parentheses itself. */
static bool is_in_session(const char *pid, pid_t session)
{
    char path[300], line[512];
    int of = -1;
    snprintf(path, sizeof path, "/proc/%.200s/stat", pid);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    const bool read = end && sscanf(end + 1, " %*c %*d %*d %d", &of) == 1;
    if (file)
        fclose(file);
    return read && of == (int)session;
}

/* Parses "RAN WAITED SLICES", the first two in nanoseconds. */
static bool read_account(const char *pid, const char *thread, double *ran, double *waited)
{
    char path[600], line[128];
    unsigned long long ran_ns, waited_ns;
    snprintf(path, sizeof path, "/proc/%.200s/task/%.200s/schedstat", pid, thread);
    FILE *file = fopen(path, "re");
    const bool ok =
        file && fgets(line, sizeof line, file) && sscanf(line, "%llu %llu", &ran_ns, &waited_ns) == 2;
    if (file)
        fclose(file);
    if (!ok)
        return false;
    *ran = 1e-9 * (double)ran_ns;
    *waited = 1e-9 * (double)waited_ns;
    return true;
}

static void look_at_process(struct cpu_wait *s, const char *pid)
{
    char path[300];
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%.200s/task", pid);
    DIR *threads = opendir(path);
    while (threads && s->count < CPU_WAIT_THREADS && (entry = readdir(threads))) {
        const int i = s->count;
        if (isdigit((unsigned char)entry->d_name[0]) &&
            read_account(pid, entry->d_name, &s->first[i].ran, &s->first[i].waited)) {
            s->first[i].thread = (pid_t)atol(entry->d_name);
            s->count++;
        }
    }
    if (threads)
        closedir(threads);
}

void cpu_wait_begin(struct cpu_wait *s, pid_t session)
{
    const struct dirent *entry;
    DIR *processes = opendir("/proc");
    s->count = 0;
    while (processes && s->count < CPU_WAIT_THREADS && (entry = readdir(processes)))
        if (isdigit((unsigned char)entry->d_name[0]) && is_in_session(entry->d_name, session))
            look_at_process(s, entry->d_name);
    if (processes)
        closedir(processes);
}

double cpu_wait_seconds(const struct cpu_wait *first, pid_t session)
{
    struct cpu_wait now;
    double wanted = 0, weighted = 0;
    cpu_wait_begin(&now, session);
    for (int i = 0; i < now.count; i++) {
        double ran = now.first[i].ran, waited = now.first[i].waited;
        for (int k = 0; k < first->count; k++) /* a new thread has no earlier sample to subtract */
            if (first->first[k].thread == now.first[i].thread) {
                ran -= first->first[k].ran;
                waited -= first->first[k].waited;
                break;
            }
        wanted += ran + waited;
        weighted += (ran + waited) * waited;
    }
    return wanted > 0 ? weighted / wanted : 0;
}
