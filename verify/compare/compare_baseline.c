#include "compare_baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paired_timing.h"
#include "paired_test.h"
#include "gate.h"
#include "verify/util/interrupt.h"

/* In each pair, A is the task's own baseline. */
static enum run_status sample(const struct task *task, const struct run_options *run,
                              const struct paired_timing_options *options, struct comparison *c, char *error,
                              size_t size)
{
    struct task reference = *task;
    reference.build = task->baseline;
    struct rounds *rounds = paired_timing_open(&reference, task, run);
    enum run_status status = RUN_BROKEN;
    if (rounds)
        status = paired_timing_run(rounds, options, c, error, size);
    else
        snprintf(error, size, "out of memory");
    paired_timing_close(rounds);
    return status;
}

/* --- verify --baseline --- */

static void keep(const struct comparison *c, struct result *result)
{
    for (int i = 0; i < c->count; i++) {
        const struct compared *item = &c->item[c->item[i].serves ? c->item[i].serves - 1 : i];
        struct timing *timing = &result->results[i].timing;
        if (!timing->present || !item->shift.log_ratio.present)
            continue;
        timing->baseline_ms = item->ms[0];
        const struct interval *log_ratio = &item->shift.log_ratio;
        timing->baseline_ratio =
            (struct interval){true, exp(log_ratio->value), exp(log_ratio->low), exp(log_ratio->high)};
        timing->disturbed = timing->disturbed || item->disturbed;
    }
}

enum run_status compare_against_baseline(const struct task *task, const struct run_options *options,
                                         double budget_seconds, struct result *result, char *error,
                                         size_t error_size)
{
    const struct paired_timing_options rounds = {.only_first = true, .budget_seconds = budget_seconds};
    struct comparison c = {.seed = result->seed, .count = result->result_count};
    c.item = calloc((size_t)c.count + 1, sizeof *c.item);
    if (!c.item) {
        snprintf(error, error_size, "out of memory");
        return RUN_BROKEN;
    }
    for (int i = 0; i < c.count; i++) {
        const struct config_result *from = &result->results[i];
        c.item[i].config = from->config;
        c.item[i].outcome[0] = OUTCOME_PASS;
        c.item[i].outcome[1] = from->timing.present ? from->outcome : OUTCOME_SKIPPED;
    }
    const enum run_status status = sample(task, options, &rounds, &c, error, error_size);
    if (status == RUN_DONE)
        keep(&c, result); /* verify has looked for evidence of cheating itself */
    free(c.item);
    return status;
}

/* --- compare --against --- */

enum task_status compare_sets(struct task *task, const struct result *stored, const char *name)
{
    struct drawn_list *const set[2] = {&task->seen_set, &task->unseen_set};
    char why[sizeof task->error];
    task->seed = stored->seed;
    for (int i = 0; i < 2; i++) {
        set[i]->item = calloc((size_t)stored->result_count + 1, sizeof *set[i]->item);
        set[i]->capacity = stored->result_count + 1;
        if (!set[i]->item) {
            snprintf(task->error, sizeof task->error, "out of memory");
            return TASK_ENVIRONMENT;
        }
    }
    for (int i = 0; i < stored->result_count; i++) {
        const struct config_result *from = &stored->results[i];
        struct drawn_list *list = set[from->unseen];
        if (from->scout) /* small configurations have no time to compare */
            continue;
        if (task_config(task, from->line, &list->item[list->count].config) != TASK_OK) {
            snprintf(why, sizeof why, "%s", task->error);
            snprintf(task->error, sizeof task->error, "%.200s: %.1000s: %.2000s", name, from->line, why);
            return TASK_INPUT;
        }
        snprintf(list->item[list->count++].why, sizeof list->item->why, "%s", from->why);
    }
    return TASK_OK;
}

static const struct config_result *find(const struct result *stored, const struct config_result *config)
{
    for (int i = 0; i < stored->result_count; i++)
        if (stored->results[i].unseen == config->unseen && strcmp(stored->results[i].line, config->line) == 0)
            return &stored->results[i];
    return NULL;
}

/* Pairs each configuration of the run with the stored configuration of the same line. */
static void describe(const struct result *stored, const struct result *now, struct comparison *c)
{
    for (int i = 0; i < now->result_count; i++) {
        const struct config_result *new = &now->results[i], *old = find(stored, new);
        struct compared *item = &c->item[c->count];
        if (!old) {
            c->unmatched[1]++;
            continue;
        }
        *item = (struct compared){.unseen = new->unseen,
                                  .config = new->config,
                                  .outcome = {old->outcome, new->outcome},
                                  .ms = {old->timing.median_ms},
                                  .reference = compare_log(&old->timing.baseline_ratio)};
        item->shift = (struct shift){.slower = 1, .faster = 1, .adjusted = 1};
        item->unknown = !old->timing.present || !item->reference.present;
        memcpy(item->line, new->line, sizeof item->line);
        memcpy(item->detail, new->detail, sizeof item->detail);
        c->count++;
    }
    c->unmatched[0] = -c->count;
    for (int i = 0; i < stored->result_count; i++)
        c->unmatched[0] += !stored->results[i].scout;
}

static enum run_status compare(const struct task *task, const struct result *stored,
                               const struct compare_live_options *options, struct result *now,
                               struct comparison *c, char *error, size_t size)
{
    const struct paired_timing_options rounds = {.budget_seconds = options->budget_seconds,
                                                 .progress = options->progress,
                                                 .progress_data = options->progress_data};
    enum run_status status = run_task(task, &options->run, now, error, size);
    if (status != RUN_DONE)
        return status;
    describe(stored, now, c);
    gate_find_cheating(stored, now, c);
    if (options->timing && options->run.before_timing && !is_interrupted())
        options->run.before_timing(options->run.progress_data);
    if (options->timing)
        status = sample(task, &options->run, &rounds, c, error, size);
    for (int i = 0; i < c->count; i++) { /* the baseline's time of today belongs to neither side */
        const struct config_result *old = find(stored, &now->results[i]);
        c->item[i].ms[0] = old ? old->timing.median_ms : 0;
    }
    if (status == RUN_DONE)
        gate_close(c);
    return status;
}

enum run_status compare_against_stored(const struct task *task, const struct result *stored,
                                       const struct compare_live_options *options, struct comparison *c,
                                       char *error, size_t error_size)
{
    struct result now = {.seed = task->seed, .planned = task->seen_set.count + task->unseen_set.count};
    enum run_status status = RUN_BROKEN;
    c->kind = COMPARISON_DRIFT;
    c->item = calloc((size_t)now.planned + 1, sizeof *c->item);
    if (c->item)
        status = compare(task, stored, options, &now, c, error, error_size);
    else
        snprintf(error, error_size, "out of memory");
    free(now.results);
    free(now.finding);
    return status;
}
