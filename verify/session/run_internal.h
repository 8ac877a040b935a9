/* Shared by run.c, run_retry.c, run_baseline.c and run_time.c. */
#ifndef UNSEEN_RUN_INTERNAL_H
#define UNSEEN_RUN_INTERNAL_H

#include <pthread.h>

#include "retry_alone.h"
#include "run.h"
#include "timeout_budget.h"

struct run {
    const struct task *task;
    const struct run_options *options;
    struct result *result;
    pthread_mutex_t lock;
    pthread_rwlock_t running; /* read lock: a configuration is running; write lock: one is running alone */
    struct alone *alone;      /* NULL until a configuration has timed out */
    struct session *later;    /* session for the work after the checks; NULL until then */
    struct timeout_budget timeouts;
    int next, total;
    bool *finished;
    int ready;    /* the first `ready` configurations are finished */
    int deaths;   /* process deaths while loading */
    int excesses; /* ends for exceeding a resource limit */
    bool *ended;  /* per configuration: its process ended during a call */
    int ends;     /* number of those among the first `ready` */
    bool passed;  /* one of these has passed */
    int cut;      /* index from which nothing is run, since only process ends came before; 0: all are run */
    bool failed;
    enum run_status status;
    char *error;
    size_t error_size;
};

/* Configuration i of both sets. */
const struct drawn *run_drawn(const struct task *task, int i);

/* The result of configuration i before it runs. */
void run_describe(const struct task *task, int i, struct config_result *result);

/* A reason to stop running configurations; CAUSE_NONE: continue. */
enum cause run_enough(const struct run *run);

/* Aborts the run without a verdict (out of memory and similar). The caller holds the lock, or is the only
 * thread. */
void run_break(struct run *run, const char *text);

/* Collects a session's findings, each kind once. The caller holds the lock, or is the only thread. */
void run_collect(struct run *run, const struct session *session);

/* --- run_time.c --- */

/* Nothing else of the run is active. */
void run_late_calls(struct run *run); /* for the cheapest configuration that passed */
void run_times(struct run *run);      /* for all configurations that passed */
void run_end_later(struct run *run);  /* after both: collects their session's findings */

struct session *run_open_baseline(const struct run *run); /* for a run with --baseline; NULL: out of memory */

/* --- run_baseline.c --- */

/* Checks whether the baseline passes under the same judge where the candidate ran. Nothing else of the run is
 * active. */
void run_baseline(struct run *run);

/* Stores the baseline's outcome for a configuration; a timeout or a signal from outside is not stored. */
void run_note_baseline(struct config_result *result, const struct config_result *baseline);

/* --- run_retry.c --- */

/* The budget for a run's timeouts. */
struct timeout_budget run_timeouts(const struct task *task, const struct run_options *options);

/* Notes what the timeouts took, and what did not run. Nothing else of the run is active. */
void run_note_timeouts(const struct run *run);

/* Notes that signal 9 ended a configuration's first run and not its second. Takes the lock. */
void run_note_kill(struct run *run, const struct config_result *result);

/* Repeats a timed-out attempt alone, until one times out alone, too. Later timeouts of calls count at once
 * unless the baseline is slow there. They become `skipped` if `limit`, the time limit of the attempt, was a
 * shortened one. `retry` began with the result before the attempt. Returns the last status of the session.
 * The caller holds no lock. */
enum session_status run_retry_timeout(struct run *run, struct session *session, struct retry *retry,
                                      const struct alone_attempt *attempt, double limit,
                                      struct config_result *result);

#endif
