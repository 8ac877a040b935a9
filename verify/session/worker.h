/* The candidate's processes: the current one, those started ahead, the one with guarded allocations, and what
 * happened in them. */
#ifndef UNSEEN_WORKER_H
#define UNSEEN_WORKER_H

#include "buffers.h"
#include "guarded_alloc.h"
#include "memory_short.h"
#include "process_pool.h"
#include "python_exception.h"
#include "session.h"

enum { PAST_CONFIGS = 256 };

/* Configurations that were called, and failures that depend on an earlier one (pair_search.c). */
struct past {
    struct config item[PAST_CONFIGS]; /* ring buffer of configurations called in the current process */
    int count;                        /* their total number */
    int in_vain;                      /* consecutive failures that also occur in another process */
    int searches;                     /* unsuccessful searches for the configuration that causes a failure */
    int pairs;                        /* failures found to depend on an earlier configuration */
    bool siblings_off;                /* no sibling is checked after a configuration */
    int siblings_in_vain;             /* failing siblings that also fail alone */
};

struct evidence;

struct worker {
    const struct session_options *options; /* how to start a process, and its limits */
    struct buffers *buffers;               /* tensors that its processes share */
    struct evidence *evidence;             /* where it reports forged answers and the seconds of a start */
    struct status *status;
    struct child *child; /* the current process; NULL: the next call starts one */
    struct process_pool pool;
    struct guarded_alloc guarded;
    struct python_exceptions exception;
    struct memory_shortage shortage;
    struct past past;
    int losses;       /* number of processes that the candidate has ended */
    bool outside;     /* the candidate works outside of its stream */
    bool keeps_model; /* the next unmapping keeps the model for the next mapping */
};

/* Starts a process if needed, and maps the current tensors into it. False: *result or the status says why. */
bool worker_map(struct worker *worker, struct call_result *result);
/* Time limit of the next call in seconds. */
double worker_call_limit(struct worker *worker);
/* Handles the failure of the current process: it is gone, unless it only raised an exception. Sets the
 * outcome, or breaks the status. */
void worker_failed(struct worker *worker, enum child_status status, const char *text,
                   struct call_result *result);
/* Sets the outcome of a call that did not return 0 and its text, and records the free memory. */
void worker_refused(struct worker *worker, const struct child_answer *answer, struct call_result *result);
/* Unmaps the current tensors from the current process. */
void worker_unmap(struct worker *worker);
/* Unmaps them from all processes; the current one keeps its model if keeps_model is set. */
void worker_unmap_all(struct worker *worker);
void worker_restart(struct worker *worker); /* the next call is the first of a new process */
void worker_close(struct worker *worker);   /* ends all processes */
struct child_options worker_child_options(const struct worker *worker);

/* Records a configuration called in the current process. */
void past_add(struct worker *worker, const struct config *config);

#endif
