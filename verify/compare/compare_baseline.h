/* A candidate beside a baseline kernel: the ratio for `verify --baseline`, and a comparison with a stored
 * result of another day. */
#ifndef UNSEEN_COMPARE_BASELINE_H
#define UNSEEN_COMPARE_BASELINE_H

#include "compare_live.h"

/* Times the task's baseline beside its candidate in alternation, where the candidate passes. Fills each
 * timing's baseline_ms and baseline_ratio. If the baseline does not pass somewhere, it has no time there.
 * Otherwise as run_task. */
enum run_status compare_against_baseline(const struct task *task, const struct run_options *options,
                                         double budget_seconds, struct result *result, char *error,
                                         size_t error_size);

/* Replaces the task's sets by those of a stored result, by its lines. */
enum task_status compare_sets(struct task *task, const struct result *stored, const char *name);

/* Compares the task's candidate, timed now, with the stored result: each relative to the problem's own
 * baseline (task->baseline) on its day. Otherwise as compare_live. */
enum run_status compare_against_stored(const struct task *task, const struct result *stored,
                                       const struct compare_live_options *options,
                                       struct comparison *comparison, char *error, size_t error_size);

#endif
