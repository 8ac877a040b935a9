/* Running configurations one at a time, for shrinking and explaining: one worker that lives across runs,
 * and a memory of what has been run. */
#ifndef UNSEEN_PROBE_H
#define UNSEEN_PROBE_H

#include "verify/session/mixture.h"
#include "verify/session/run.h"

struct probe;

enum probe_status {
    PROBE_OK, /* *result is filled */
    PROBE_INTERRUPTED,
    PROBE_BAD,   /* as SESSION_BAD: the candidate cannot be used at all */
    PROBE_BROKEN /* as SESSION_BROKEN, or out of memory */
};

/* NULL when out of memory. `task` must outlive the probe. */
struct probe *probe_open(const struct task *task, const struct run_options *options);
void probe_close(struct probe *probe);

/* The result of one configuration, remembered or run now. Above the caps of the machine it is not run:
 * `skipped`, with the reason. */
enum probe_status probe_run(struct probe *probe, const struct config *config, struct config_result *result);

/* Run it whatever is known of it and whatever it costs. What is remembered from then on is the last
 * result that did not pass: a failure that comes and goes is one. */
enum probe_status probe_again(struct probe *probe, const struct config *config, struct config_result *result);

/* `config` right after `after` (session_check_after); nothing is remembered of it. */
enum probe_status probe_after(struct probe *probe, const struct config *config, const struct config *after,
                              struct config_result *result);

/* The same of a mixture of two contents, in one call; nothing is remembered of it. */
enum probe_status probe_mix(struct probe *probe, const struct mix *mix, struct config_result *result);

/* What is remembered, one after the other: after NULL the first; NULL: there is no other. */
const struct config_result *probe_next(const struct probe *probe, const struct config_result *after);

/* What is known already need not be run: a result of another worker of the same task. */
bool probe_know(struct probe *probe, const struct config_result *result);

/* session_observe for the runs from now on. */
void probe_observe(struct probe *probe, struct pattern *pattern);

/* Whether configurations have twins (session_twins), as they have from the start: what they do to a process counts only where
 * that is what is asked about. */
void probe_twins(struct probe *probe, bool on);

int probe_runs(const struct probe *probe);                      /* real ones */
const char *probe_error(const struct probe *probe);             /* after PROBE_BAD, PROBE_BROKEN */
const struct session *probe_session(const struct probe *probe); /* for its findings and seconds */

#endif
