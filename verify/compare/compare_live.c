#include "compare_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paired_timing.h"
#include "gate.h"
#include "verify/util/interrupt.h"

static const struct drawn *drawn_of(const struct task *task, int i)
{
    return i < task->seen_set.count ? &task->seen_set.item[i]
                                    : &task->unseen_set.item[i - task->seen_set.count];
}

static void describe(const struct task *task, const struct result *result, struct comparison *c)
{
    for (int i = 0; i < c->count; i++) {
        struct compared *item = &c->item[i];
        item->unseen = i >= task->seen_set.count;
        item->config = drawn_of(task, i)->config;
        config_format(&item->config, item->line, sizeof item->line);
        for (int side = 0; side < 2; side++)
            item->outcome[side] = result[side].results[i].outcome;
        memcpy(item->detail, result[1].results[i].detail, sizeof item->detail);
    }
}

static enum run_status check_both(const struct task *task, const struct compare_live_options *options,
                                  struct result *result, char *error, size_t size)
{
    for (int side = 0; side < 2; side++) {
        enum run_status status = run_task(&task[side], &options->run, &result[side], error, size);
        if (status != RUN_DONE)
            return status;
    }
    return RUN_DONE;
}

static enum run_status time_both(const struct task *task, const struct compare_live_options *options,
                                 struct comparison *c, char *error, size_t size)
{
    const struct paired_timing_options rounds = {.budget_seconds = options->budget_seconds,
                                                 .progress = options->progress,
                                                 .progress_data = options->progress_data};
    struct rounds *both = paired_timing_open(&task[0], &task[1], &options->run);
    enum run_status status = RUN_BROKEN;
    if (both)
        status = paired_timing_run(both, &rounds, c, error, size);
    else
        snprintf(error, size, "out of memory");
    if (status == RUN_DONE)
        cliffs(both, &task[1], &options->cliffs, c);
    paired_timing_close(both);
    return status;
}

static bool any_passes(const struct comparison *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->item[i].outcome[0] == OUTCOME_PASS && c->item[i].outcome[1] == OUTCOME_PASS)
            return true;
    return false;
}

/* The findings of the check are in the task, of which both sides are copies. */
static void prepare_timing(const struct task *from, struct task *both, const struct run_options *options)
{
    if (options->before_timing)
        options->before_timing(options->progress_data);
    for (int side = 0; side < 2; side++)
        both[side].device = from->device;
}

static enum run_status compare(const struct task *from, struct task *task,
                               const struct compare_live_options *options, struct result *result,
                               struct comparison *c, char *error, size_t size)
{
    enum run_status status = check_both(task, options, result, error, size);
    if (status != RUN_DONE)
        return status;
    describe(&task[0], result, c);
    gate_find_cheating(&result[0], &result[1], c);
    if (options->timing && any_passes(c) && !is_interrupted()) {
        prepare_timing(from, task, &options->run);
        status = time_both(task, options, c, error, size);
    }
    return is_interrupted() && status == RUN_DONE ? RUN_INTERRUPTED : status;
}

enum run_status compare_live(const struct task *task, const struct compare_live_options *options,
                             struct comparison *c, char *error, size_t error_size)
{
    struct task both[2] = {*task, *task};
    struct result result[2] = {{.seed = task->seed}, {.seed = task->seed}};
    enum run_status status = RUN_BROKEN;
    both[0].build = task->baseline;
    for (int side = 0; side < 2; side++) /* the old one is checked once, as a candidate */
        both[side].baseline = (struct build){.object = ""};
    c->count = task->seen_set.count + task->unseen_set.count;
    c->item = calloc((size_t)c->count + 1, sizeof *c->item);
    for (int side = 0; side < 2; side++)
        result[side].planned = c->count;
    if (c->item)
        status = compare(task, both, options, result, c, error, error_size);
    else
        snprintf(error, error_size, "out of memory");
    if (status == RUN_DONE)
        gate_close(c);
    for (int side = 0; side < 2; side++) {
        free(result[side].results);
        free(result[side].finding);
    }
    return status;
}
