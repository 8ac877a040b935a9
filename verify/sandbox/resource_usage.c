#include "resource_usage.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_table.h"
#include "verify/device/cgroup.h"

enum { FIRST = 256, LEAST_TASKS = 1024, TASKS_PER_CORE = 16, PATH_BYTES = 4096 };
/* Upper bounds on growth: bytes of memory first touched per second and core, and process starts per second. 2
 * to 3 GB and 10 000 were measured on hosts of 2019 to 2024. */
static const double fill_rate = 3e9, start_rate = 5e4;
static const double soonest = 0.01, latest = 0.25;

/* Processes still to be examined. */
struct queue {
    pid_t *pid;
    int count, room;
};

static void queue_add(struct queue *q, pid_t pid)
{
    if (q->count == q->room) {
        const int room = q->room ? 2 * q->room : FIRST;
        pid_t *grown = realloc(q->pid, (size_t)room * sizeof *grown);
        if (!grown)
            return; /* the count so far already exceeds any limit */
        q->pid = grown;
        q->room = room;
    }
    q->pid[q->count++] = pid;
}

/* --- one process --- */

/* Parses "RssAnon: 1234 kB" to bytes; 0 if there is no such line. */
static double field(const char *text, const char *name)
{
    const char *const at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static bool read_file(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    const size_t got = file ? fread(text, 1, size - 1, file) : 0;
    text[got] = '\0';
    if (file)
        fclose(file);
    return got > 0;
}

/* `exact`: shared pages count proportionally, for which the kernel walks through all pages. */
static void add_process(pid_t pid, double lent, bool exact, struct resource_usage *usage)
{
    char text[4096];
    if (!read_file(pid, "status", text, sizeof text))
        return;
    const double shared = 1024 * field(text, "\nRssShmem:");
    double own = 1024 * (field(text, "\nRssAnon:") + field(text, "\nVmSwap:"));
    usage->tasks += (int)field(text, "\nThreads:");
    if (exact && read_file(pid, "smaps_rollup", text, sizeof text))
        own = 1024 * (field(text, "\nPss_Anon:") + field(text, "\nSwapPss:"));
    usage->bytes += own + fmax(0, shared - lent);
}

/* The children of a process are listed by its threads. */
static void add_children(pid_t pid, struct queue *q)
{
    char path[PATH_BYTES];
    int child;
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    while (threads && (entry = readdir(threads))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, entry->d_name);
        FILE *children = fopen(path, "re");
        while (children && fscanf(children, "%d", &child) == 1)
            queue_add(q, child);
        if (children)
            fclose(children);
    }
    if (threads)
        closedir(threads);
}

/* --- all --- */

static bool is_above(const struct resource_usage *now, const struct resource_usage *most)
{
    return now->bytes > most->bytes || now->tasks > most->tasks;
}

static struct resource_usage count(pid_t leader, double lent, const struct resource_usage *most, bool exact)
{
    struct resource_usage usage = {0};
    struct queue q = {0};
    pid_t stranger[FIRST];
    queue_add(&q, leader);
    for (int i = child_table_strangers(stranger, FIRST); i > 0; i--)
        queue_add(&q, stranger[i - 1]);
    for (int i = 0; i < q.count && !is_above(&usage, most); i++) {
        add_process(q.pid[i], lent, exact, &usage);
        add_children(q.pid[i], &q);
    }
    free(q.pid);
    return usage;
}

struct resource_usage resource_usage_of(pid_t leader, double lent, const struct resource_usage *most)
{
    const struct resource_usage usage = count(leader, lent, most, false);
    return usage.bytes > most->bytes ? count(leader, lent, most, true) : usage;
}

static int cores(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 1 ? (int)online : 1;
}

double resource_usage_reach(const struct resource_usage *now, const struct resource_usage *most)
{
    const double seconds =
        fmin((most->bytes - now->bytes) / (fill_rate * cores()), (most->tasks - now->tasks) / start_rate);
    return fmin(latest, fmax(soonest, seconds));
}

/* "1.5 GiB" */
static void write_bytes(char *text, size_t size, double bytes)
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    while (bytes >= 1024 && i < 4) {
        bytes /= 1024;
        i++;
    }
    snprintf(text, size, "%.4g %s", bytes, unit[i]);
}

bool resource_usage_exceeds(const struct resource_usage *now, const struct resource_usage *most,
                            const struct resource_usage *before, char *text, size_t text_size)
{
    char used[32], allowed[32];
    write_bytes(used, sizeof used, now->bytes - before->bytes);
    write_bytes(allowed, sizeof allowed, most->bytes - before->bytes);
    if (now->bytes > most->bytes)
        snprintf(text, text_size, "it held %s of main memory or more; --memory allows %s", used, allowed);
    else if (now->tasks > most->tasks)
        snprintf(text, text_size, "it had %d processes and threads or more; %d are allowed",
                 now->tasks - before->tasks, most->tasks - before->tasks);
    return is_above(now, most);
}

/* --- bounds --- */

struct resource_usage resource_usage_default(void)
{
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const int many = TASKS_PER_CORE * cores();
    return (struct resource_usage){.bytes = fmin(machine, cgroup_memory(NULL, NULL)) / 2,
                                   .tasks = many > LEAST_TASKS ? many : LEAST_TASKS};
}

/* The memory a library needs to start does not shrink with the number of workers. */
double resource_usage_of_worker(int workers)
{
    static const double enough = 4.0 * (1 << 30);
    const double all = resource_usage_default().bytes;
    return fmax(all / workers, fmin(all, enough));
}
