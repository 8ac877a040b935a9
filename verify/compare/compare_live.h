/* Two candidates, now: both are checked on the same configurations, then timed in alternation. */
#ifndef UNSEEN_COMPARE_LIVE_H
#define UNSEEN_COMPARE_LIVE_H

#include "reports/record/comparison.h"
#include "regression_rule.h"
#include "verify/session/run.h"

struct compare_live_options {
    struct run_options
        /* options of the checks. `progress` is called for both candidates in turn. `before_timing` is called
         * once after the checks, unless nothing is to be timed; it may change the task's device */
        run;
    double budget_seconds; /* time limit for the pairs of one configuration in one sweep */
    bool timing;
    struct regression_rule_options cliffs;
    /* Called before each sweep of a round (paired_timing.h); NULL: not called. */
    void (*progress)(void *data, int round, int sweep, int sweeps);
    void *progress_data;
};

/* Compares task->build, the new candidate, with task->baseline, the old one. Fills item, count, finding and
 * the decisions; the caller frees comparison->item. Otherwise as run_task. */
enum run_status compare_live(const struct task *task, const struct compare_live_options *options,
                             struct comparison *comparison, char *error, size_t error_size);

#endif
