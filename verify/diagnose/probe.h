/* Runs configurations one at a time, for shrinking and explaining. One session lives across runs, and results
 * are remembered. */
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

/* Returns the result of a configuration, from memory or by a run. A configuration above the machine's caps is
 * not run: it is `skipped`, with the reason. */
enum probe_status probe_run(struct probe *probe, const struct config *config, struct config_result *result);

/* Runs a configuration even if its result is known, or if it is above the caps. Afterwards memory holds the
 * last result that did not pass, since a failure that comes and goes is a failure. */
enum probe_status probe_again(struct probe *probe, const struct config *config, struct config_result *result);

/* Runs `config` right after `after` (session_check_after). The result is not remembered. */
enum probe_status probe_after(struct probe *probe, const struct config *config, const struct config *after,
                              struct config_result *result);

/* Runs one call on a blend of two input draws (session_check_mix). The result is not remembered. */
enum probe_status probe_mix(struct probe *probe, const struct mix *mix, struct config_result *result);

/* Returns the remembered result that follows `after` (NULL: the first), or NULL at the end. A run may move
 * the results. */
const struct config_result *probe_next(const struct probe *probe, const struct config_result *after);

/* Remembers a result of another session of the same task, which then need not be run. False: out of
 * memory. */
bool probe_know(struct probe *probe, const struct config_result *result);

/* Applies session_observe to later runs. */
void probe_observe(struct probe *probe, struct pattern *pattern);

/* Enables or disables the sibling check (session_twins), which is enabled at first. Disable it to judge a
 * configuration by itself. */
void probe_twins(struct probe *probe, bool on);

/* Sets the time limit of each further call. */
void probe_limit(struct probe *probe, double seconds);

int probe_runs(const struct probe *probe);                      /* without remembered results */
const char *probe_error(const struct probe *probe);             /* after PROBE_BAD, PROBE_BROKEN */
const struct session *probe_session(const struct probe *probe); /* for its findings and seconds */

#endif
