/* One candidate in processes of its own, memory shared with them, and the judgement of its results. Several
 * sessions may run in different threads. */
#ifndef UNSEEN_SESSION_H
#define UNSEEN_SESSION_H

#include "gen/contract/space.h"
#include "problems/problem.h"
#include "reports/record/result.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/device/memory_gate.h"
#include "verify/torch/pool.h"
#include "verify/worker/python.h"
#include "judge.h"
#include "status.h"

enum { CALL_SECONDS = 20 }; /* default time limit of a call in seconds */

struct session_options {
    const struct problem *problem;
    const struct device *device;
    const char *object;          /* the candidate's shared object, or its module */
    const struct python *python; /* how to run a module; NULL: a shared object */
    const char *log_path;        /* file for its output; NULL: discarded */
    double timeout;              /* time limit of one call in seconds */
    double memory;               /* maximum bytes of the candidate's processes together; 0: no limit */
    int threads; /* number of threads of the candidate, and of the judge, which work in turns */
    /* interpreter that computes expected values of an imported task; NULL: python3 */
    const char *interpreter;
    struct space_tolerance tolerance; /* replaces the published tolerances in the published check */
    bool brief;    /* outcomes suffice: if MPFR is expensive, it is asked only when it could still acquit */
    int workers;   /* number of sessions that share the machine's memory */
    int processes; /* number of successive processes in which short configurations are timed; 0: one */
    struct lease *lease;         /* held during timing; NULL: none is available */
    struct oracle_pool *oracles; /* for an imported task; NULL: each session has its own oracle */
    struct shared_judge *shared; /* values shared with earlier sessions; NULL: none */
    struct memory_gate *room;    /* gate for device memory; NULL: no other process is known */
    /* contract for siblings of a configuration (sibling_check.c); NULL: no siblings */
    const struct space *space;
};

struct session;

/* The options of a judge for these sessions. */
struct judge_options session_judge_options(const struct session_options *options);
const struct session_options *session_given(const struct session *session); /* the options of session_open */

/* Starts in advance what `count` sessions need and takes long to start. Call it on the thread that opened
 * options->oracles. */
void session_prepare(const struct session_options *options, int count);

/* NULL when out of memory. The candidate is loaded at the first configuration. */
struct session *session_open(const struct session_options *options);
void session_close(struct session *session);
/* The same, and adds the seconds of each phase to *add_to. */
void session_end(struct session *session, struct phase_seconds *add_to);
/* Ends the candidate's processes; the next configuration starts another. */
void session_rest(struct session *session);

/* Enables or disables the sibling check; initially enabled. It is off for the seen set: a failure on an
 * unseen sibling must not fail a seen configuration. */
void session_twins(struct session *session, bool on);

/* Runs and judges one configuration: outcome, worst element, details. Repeats it as retry.h says. */
enum session_status session_check(struct session *session, const struct config *config,
                                  struct config_result *result);

/* Checks `config` right after one call of `after` in the same process. If it fails there and passes in a
 * process of its own, result->pair says so. Otherwise the result is that of `config` alone. */
enum session_status session_check_after(struct session *session, const struct config *config,
                                        const struct config *after, struct config_result *result);

/* Call it right after session_check of a failing configuration. If the configuration passes in a process of
 * its own, an earlier configuration may cause the failure. The function searches for it and records it in
 * result->pair. A few times per run. */
enum session_status session_attribute(struct session *session, const struct config *config,
                                      struct config_result *result);

/* Makes one call on a blend of two input draws (mixture.h), judged like any other. `result` is about the
 * configuration of the first draw. */
struct mix;
enum session_status session_check_mix(struct session *session, const struct mix *mix,
                                      struct config_result *result);

/* Marks a configuration as not run or not judged: outcome `skipped`. */
void session_skip(struct config_result *result, enum cause cause);

/* Sets where to describe the wrong elements of the first call that has any; pattern->present is false if
 * there are none. NULL: stop describing. */
void session_observe(struct session *session, struct pattern *pattern);

/* Sets where to copy the first call's output t: to[t], in the backend's memory and of the tensor's size.
 * NULL: stop copying. */
void session_copy(struct session *session, void *const *to);

/* Sets the time limit of each further call. */
void session_limit(struct session *session, double seconds);

int session_losses(const struct session *session); /* number of processes that the candidate has ended */
const char *session_error(const struct session *session); /* after SESSION_BAD, SESSION_BROKEN */
/* Why the candidate was not called with its own allocations between guards, in its words; NULL: it was, or no
 * such call was planned. */
const char *session_unguarded(const struct session *session);

/* Evidence of cheating found so far; *count is its number. */
const struct finding *session_findings(const struct session *session, int *count);
void session_seconds(const struct session *session, struct phase_seconds *add_to);

#endif
