/* Two candidates, now: both are checked on the same configurations, then timed in alternation. */
#ifndef UNSEEN_SIDE_BY_SIDE_H
#define UNSEEN_SIDE_BY_SIDE_H

#include "reports/record/comparison.h"
#include "cliffs.h"
#include "verify/session/run.h"

struct side_options {
    struct run_options
        /* options of the checks. `progress` is called for both candidates in turn. `before_timing` is called
         * once after the checks, unless nothing is to be timed; it may change the task's device */
        run;
    double budget_seconds; /* time limit for the pairs of one configuration in one sweep */
    bool timing;
    struct cliffs_options cliffs;
    /* Called before each sweep of a round (rounds.h); NULL: not called. */
    void (*progress)(void *data, int round, int sweep, int sweeps);
    void *progress_data;
};

/* Compares task->build, the new candidate, with task->baseline, the old one. Fills item, count, finding and
 * the decisions; the caller frees comparison->item. Otherwise as run_task. */
enum run_status side_by_side(const struct task *task, const struct side_options *options,
                             struct comparison *comparison, char *error, size_t error_size);

#endif
