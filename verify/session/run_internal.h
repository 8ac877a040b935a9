/* What run.c shares with run_alone.c and run_time.c. */
#ifndef UNSEEN_RUN_INTERNAL_H
#define UNSEEN_RUN_INTERNAL_H

#include <pthread.h>

#include "alone.h"
#include "run.h"

struct run {
    const struct task *task;
    const struct run_options *options;
    struct result *result;
    pthread_mutex_t lock;
    pthread_rwlock_t running; /* read: a configuration is at work; written: one is at work alone */
    struct alone *alone;      /* NULL until a configuration has timed out */
    struct session *later;    /* what comes after the checks; NULL until then */
    bool hangs;               /* one has timed out alone, too: nothing else is run */
    int next, total;
    bool *finished;
    int ready;    /* the first so many are finished */
    int deaths;   /* of its process while it was being loaded */
    int excesses; /* ends for using more than it may */
    bool *ended;  /* its process, in a call */
    int ends;     /* of the first `ready` */
    bool passed;  /* one of these has */
    int cut;      /* from here on none is run, since only ends came before; 0: all are */
    bool failed;
    enum run_status status;
    char *error;
    size_t error_size;
};

/* The i-th configuration of both sets. */
const struct drawn *run_drawn(const struct task *task, int i);

/* A reason to run no more configurations; CAUSE_NONE: go on. */
enum cause run_enough(const struct run *run);

/* Out of memory and the like: no verdict. The caller holds the lock, or is alone. */
void run_break(struct run *run, const char *text);

/* What a session has found, each kind once; the caller holds the lock, or is alone. */
void run_collect(struct run *run, const struct session *session);

/* --- run_time.c --- */

/* Nothing else of the run goes on. */
void run_late_calls(struct run *run); /* of the cheapest configuration that passed */
void run_times(struct run *run);      /* of all that passed */
void run_end_later(struct run *run);  /* after both: what their session has found */

struct session *run_open_baseline(const struct run *run); /* of a run with --baseline; NULL: out of memory */

/* --- run_baseline.c --- */

/* Does the baseline pass, by the same judge, where the candidate ran? Nothing else of the run goes on. */
void run_baseline(struct run *run);

/* Keep what the baseline's calls came to on a configuration; what only a clock or a signal from outside ended says nothing. */
void run_note_baseline(struct config_result *result, const struct config_result *baseline);

/* --- run_alone.c --- */

/* What timed out: a check, or the calls that are timed. */
struct run_attempt {
    bool timed;
    double time_budget;
};

/* What timed out is run again alone, until one has timed out there, too: that one speaks for the others, nothing
 * else is run, and what hangs is waited for twice at most. Returns what the session says last. `before` is the
 * i-th result as it was before the attempt; the caller holds none of the locks. */
enum session_status run_settle_timeout(struct run *run, struct session *session, int i,
                                       const struct config_result *before, const struct run_attempt *attempt,
                                       enum session_status status);

/* What signal 9 ended is run again, once: a kernel that is the reason ends so again. The rest is as above, but that a lock
 * for reading may be held. */
enum session_status run_settle_kill(struct run *run, struct session *session, int i,
                                    const struct config_result *before, const struct run_attempt *attempt,
                                    enum session_status status);

#endif
