/* Many runs in one process: both sets one after the other, each run with runners of its own. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lost.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/session/run.h"
#include "verify/session/task.h"
#include "verify/util/clock.h"

enum { MANY = 1000, SETTLED = 10, ALLOWED_KB = 4096 };
static const char part[] = "process";

struct held {
    long resident_kb;
    int descriptors, threads, shared;
};

static int count_entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static struct held look(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
        lost_complain(part, 0, NULL, "/proc/self/statm cannot be read");
    if (file)
        fclose(file);
    return (struct held){.resident_kb = resident * (sysconf(_SC_PAGESIZE) / 1024),
                         .descriptors = count_entries("/proc/self/fd"),
                         .threads = count_entries("/proc/self/task"),
                         .shared = count_entries("/dev/shm")};
}

static bool prepare(struct task *task)
{
    const struct task_options options = {.problem = problem_find("softmax"),
                                         .device = "host",
                                         .space = "tiny.space",
                                         .seen = "tiny.seen",
                                         .candidate = "right.so",
                                         .count = 4,
                                         .seed = 3,
                                         .has_seed = true};
    const bool opened = task_open(task, &options) == TASK_OK;
    if (opened && task_contract(task) == TASK_OK && task_build(task) == TASK_OK && task_draw(task) == TASK_OK)
        return true;
    lost_complain(part, 0, NULL, task->error);
    if (opened)
        task_clear(task);
    return false;
}

static void run_once(const struct task *task, long i)
{
    char error[1024] = "";
    const struct run_options options = {.timeout = 20, .jobs = 1 + (int)(i % 2)};
    struct result result = {.planned = task->seen_set.count + task->unseen_set.count};
    const enum run_status status = run_task(task, &options, &result, error, sizeof error);
    int passed = 0;
    for (int k = 0; k < result.result_count; k++)
        passed += result.results[k].outcome == OUTCOME_PASS;
    if (status != RUN_DONE || passed != result.planned)
        lost_complain(part, i, NULL, *error ? error : "not all pass");
    if (child_count() != 0)
        lost_complain(part, i, NULL, "a runner is left");
    free(result.results);
    free(result.finding);
}

int lost_process(long most)
{
    const long many = most > 0 ? most : MANY;
    const double start = clock_seconds();
    struct task task;
    struct held first = {0};
    if (!prepare(&task))
        return lost_complaints();
    for (long i = 0; i < many; i++) {
        run_once(&task, i);
        if (i < SETTLED)
            first = look();
    }
    const struct held last = look();
    if (last.resident_kb > first.resident_kb + ALLOWED_KB)
        lost_complain(part, many, NULL, "memory grows");
    if (last.descriptors != first.descriptors || last.threads > first.threads)
        lost_complain(part, many, NULL, "descriptors or threads are left");
    task_clear(&task);
    if (lost_no_process())
        lost_complain(part, many, NULL, lost_no_process());
    if (lost_no_file(false))
        lost_complain(part, many, NULL, lost_no_file(false));
    printf("process: %ld, %.0f s; resident %ld KiB after %d and %ld KiB at the end, descriptors %d and %d, "
           "threads %d "
           "and %d, files in /dev/shm %d and %d; %d complaints\n",
           many, clock_seconds() - start, first.resident_kb, SETTLED, last.resident_kb, first.descriptors,
           last.descriptors, first.threads - 2, last.threads - 2, first.shared, last.shared,
           lost_complaints());
    return lost_complaints();
}
