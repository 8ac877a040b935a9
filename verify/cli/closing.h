/* Marks what a run left out, and where its time went. */
#ifndef UNSEEN_CLOSING_H
#define UNSEEN_CLOSING_H

#include "options.h"
#include "reports/record/result.h"
#include "verify/session/task.h"

/* Marks the result as partial if --budget or --fail-fast left configurations out. */
void closing_note_left(struct result *result);

/* Sets result->seconds, and phase.other so that the phases add up to it. Parallel workers (--jobs) accumulate
 * more time than passes; their phases are then scaled to the time available. */
void closing_seconds(struct result *result, double seconds);

/* Adds a finding for the first configuration whose time is clearly below the hardware's limit. */
void closing_find_excess(struct result *result);

/* Adds a finding if the candidate uses something that --forbid names, and records what was observed. */
void closing_find_forbidden(struct result *result);

/* Adds a note about the speedup over the --baseline; NULL: there is none. */
void closing_note_baseline(const char *baseline, struct result *result);

/* Writes the --trace of a candidate that does not compile or cannot be loaded, after the sets were drawn. An
 * error is printed. */
void closing_trace_unusable(const struct task *task, const struct options *options,
                            const struct result *result);

#endif
