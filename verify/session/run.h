/* Running a candidate on both sets: workers, progress, interruption, and what is written on the way. */
#ifndef UNSEEN_RUN_H
#define UNSEEN_RUN_H

#include "session.h"
#include "task.h"

struct run_options {
    double timeout;
    double
        memory; /* bytes that the candidate's processes may have, of one worker; 0: half of the machine's, shared by workers */
    int jobs;
    bool timing, published;
    bool fail_fast;     /* stop at the first failure; what is left is skipped */
    double time_budget; /* seconds for one timed configuration */
    int processes;      /* in so many, one after another, is timed what is short; 0: in one */
    const char *log_path;
    /* Called after every finished configuration, never by two threads at once; `latest` is NULL while they are
     * being timed, unless one fails there. The first `ready` results are finished, others may be half-written. */
    void (*progress)(void *data, const struct result *result, const struct config_result *latest, int ready);
    void *progress_data;
    /* Called once, after all checks and before the first time is taken, with progress_data; NULL: nothing is to be done. */
    void (*before_timing)(void *data);
};

enum run_status {
    RUN_DONE,
    RUN_INTERRUPTED, /* by the user */
    RUN_BAD,         /* the candidate cannot be loaded */
    RUN_INPUT,       /* the baseline cannot */
    RUN_BROKEN,      /* the machine, or an error of the judge's */
    RUN_STATUSES
};
const char *run_status_name(enum run_status status); /* "done", "bad", ... */
enum owner run_status_owner(enum run_status status);

/* Fill result->results (seen set, then unseen set, in drawing order; what was not reached is missing),
 * findings and phase seconds. RUN_BAD and RUN_BROKEN: error says why. */
enum run_status run_task(const struct task *task, const struct run_options *options, struct result *result,
                         char *error, size_t error_size);

/* How the candidate is isolated, as far as is known by now. */
void run_say_sandbox(struct result *result);

/* The judge's teams, of threads that this thread starts from now on: its share of the cores that nobody else uses. */
void run_team(int workers);

/* The worker that a task and options ask for. */
struct session_options run_session_options(const struct task *task, const struct run_options *options);

#endif
