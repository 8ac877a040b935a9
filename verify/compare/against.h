/* A candidate beside a baseline kernel: what `verify --baseline` keeps of it, and a comparison with what was kept on another day. */
#ifndef UNSEEN_AGAINST_H
#define UNSEEN_AGAINST_H

#include "side_by_side.h"

/* Time the task's baseline beside its candidate, in turns, where this passes: each timing's baseline_ms and baseline_log. A
 * baseline that does not pass somewhere has no time there. Otherwise as run_task. */
enum run_status against_baseline(const struct task *task, const struct run_options *options,
                                 double budget_seconds, struct result *result, char *error,
                                 size_t error_size);

/* The task's sets become those of a stored result, by its lines. */
enum task_status against_sets(struct task *task, const struct result *stored, const char *name);

/* The task's candidate, now, with the stored result's: both held against the problem's own baseline (task->baseline) on their
 * days. Otherwise as side_by_side. */
enum run_status against_stored(const struct task *task, const struct result *stored,
                               const struct side_options *options, struct comparison *comparison, char *error,
                               size_t error_size);

#endif
