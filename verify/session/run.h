/* Runs a candidate on both sets: workers, progress and interruption. */
#ifndef UNSEEN_RUN_H
#define UNSEEN_RUN_H

#include "session.h"
#include "task.h"

struct run_options {
    double timeout;
    double
        /* memory limit in bytes for the candidate's processes of one worker; 0: half of the machine's memory,
         * shared by the workers */
        memory;
    int jobs;
    bool timing, published;
    bool fail_fast;     /* stop at the first failure; the rest is skipped */
    double time_budget; /* time limit in seconds for timing one configuration */
    int processes;      /* number of successive processes in which short configurations are timed; 0: one */
    const char *log_path;
    /* Called after every finished configuration, never by two threads at once. `latest` is NULL during
     * timing, unless a timed configuration fails. The first `ready` results are finished, others may be
     * half-written. */
    void (*progress)(void *data, const struct result *result, const struct config_result *latest, int ready);
    void *progress_data;
    /* Called once with progress_data, after all checks and before the first timing; may be NULL. */
    void (*before_timing)(void *data);
};

enum run_status {
    RUN_DONE,
    RUN_INTERRUPTED, /* by the user */
    RUN_BAD,         /* the candidate cannot be loaded */
    RUN_INPUT,       /* the baseline cannot be loaded */
    RUN_BROKEN,      /* the environment failed, or the judge has an error */
    RUN_STATUSES
};
const char *run_status_name(enum run_status status); /* "done", "bad", ... */
enum owner run_status_owner(enum run_status status);

/* Fills result->results (seen set, then unseen set, in drawing order, without those not reached), findings
 * and phase seconds. RUN_BAD and RUN_BROKEN: error says why. */
enum run_status run_task(const struct task *task, const struct run_options *options, struct result *result,
                         char *error, size_t error_size);

/* Fills result->results with all configurations of both sets, as skipped. Returns 0, or -1 when out of
 * memory. */
int run_list(const struct task *task, struct result *result);

/* Records how the candidate is isolated, as far as is known now. */
void run_say_sandbox(struct result *result);

/* Sets the number of threads in the judge's teams started by this thread: its share of the cores that no
 * other process uses. */
void run_team(int workers);

/* Begins to start what computes right answers, so that it is ready when the candidate is. The options are
 * those of the later run_task; only `memory` and `jobs` matter. */
void run_prepare(const struct task *task, const struct run_options *options);

/* Options for a worker's session, from a task and run options. */
struct session_options run_session_options(const struct task *task, const struct run_options *options);

#endif
