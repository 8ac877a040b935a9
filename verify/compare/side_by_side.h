/* Two candidates, now: both checked on the same configurations, then timed in turns. */
#ifndef UNSEEN_SIDE_BY_SIDE_H
#define UNSEEN_SIDE_BY_SIDE_H

#include "reports/comparison.h"
#include "cliffs.h"
#include "verify/session/run.h"

struct side_options {
    struct run_options
        run; /* of the checks; `progress` is called for both, one after the other; `before_timing` once, after them,
                             * unless nothing is to be timed; it may change the task's device */
    double budget_seconds; /* for the pairs of one configuration in one sweep */
    bool timing;
    struct cliffs_options cliffs;
    /* Called before each sweep of a round (rounds.h). NULL: nobody. */
    void (*progress)(void *data, int round, int sweep, int sweeps);
    void *progress_data;
};

/* task->build is the new candidate, task->baseline the old one. Fills item, count, finding and what is decided; the
 * caller frees comparison->item. Otherwise as run_task. */
enum run_status side_by_side(const struct task *task, const struct side_options *options,
                             struct comparison *comparison, char *error, size_t error_size);

#endif
