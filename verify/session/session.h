/* One worker: a candidate in its own child process, memory shared with it, and the judgement of its results.
 * Several sessions may run in different threads. */
#ifndef UNSEEN_SESSION_H
#define UNSEEN_SESSION_H

#include "gen/contract/space.h"
#include "problems/problem.h"
#include "reports/record/result.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/device/room.h"
#include "verify/oracle/pool.h"
#include "verify/isolate/python.h"

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
    struct room *room;           /* gate for device memory; NULL: no other process is known */
    /* contract for siblings of a configuration (session_twin.c); NULL: no siblings */
    const struct space *space;
};

struct session;

/* Starts in advance what `count` sessions need and takes long to start. Call it on the thread that opened
 * options->oracles. */
void session_prepare(const struct session_options *options, int count);

/* Does every output of the problem have a judgement? If not, text says which is missing, and no candidate can
 * be run. */
bool session_judges(const struct problem *problem, char *text, size_t text_size);

/* NULL when out of memory. The candidate is loaded at the first configuration. */
struct session *session_open(const struct session_options *options);
void session_close(struct session *session);

enum session_status {
    SESSION_OK,  /* *result is filled */
    SESSION_BAD, /* the candidate cannot be used at all: it does not load, or lacks the symbol (bad input) */
    SESSION_BROKEN, /* internal or environment error: the run must not give a verdict */
    SESSION_SHORT   /* internal: out of memory for this configuration, which is then skipped */
};

/* Enables or disables the sibling check; initially enabled. It is off for the seen set: a failure on an
 * unseen sibling must not fail a seen configuration. */
void session_twins(struct session *session, bool on);

/* Runs and judges one configuration: outcome, worst element, details. */
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

/* Like session_check, but repeats once after signal 9, which may come from outside. If the kernel is the
 * reason, it ends the same way again. */
enum session_status session_check_settled(struct session *session, const struct config *config,
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

struct fingerprints; /* of timed calls (fingerprints.h); the caller keeps them for recomputation */

/* A configuration to time, and its time limit in seconds. */
struct timing_job {
    const struct config *config;
    double budget_seconds;
    struct config_result *result;
    bool short_of_memory;        /* set if it lacked memory that other processes may have had */
    struct fingerprints *prints; /* NULL: not wanted */
};

/* Times configurations on data of the published class. Their calls are interleaved at random, each on a new
 * input draw. Outputs of secretly chosen calls are judged. Sets each result's timing, and its outcome if such
 * an output does not pass. *taken: number of jobs done, from the first on; the others did not fit into memory
 * beside these. */
enum session_status session_time_several(struct session *session, struct timing_job *job, int count,
                                         int *taken);
enum session_status session_time(struct session *session, const struct config *config, double budget_seconds,
                                 struct config_result *result);

/* A configuration that was timed and passed. */
struct recompute_job {
    const struct config *config;
    struct fingerprints *prints;
    struct config_result *result;
};

/* Result of the recomputation. */
struct recomputed {
    int compared; /* number of recomputed calls */
    int suspects; /* number of configurations whose calls were repeated and all judged */
    bool varies;  /* equal calls differ between processes, so comparing stopped */
};

/* Lets a new process recompute timed calls, within a fraction `share` of the time for timing. If a
 * fingerprint differs, it repeats the configuration's calls and judges all of them. Sets the outcome if a
 * judged call does not pass. */
enum session_status session_recompute(struct session *session, const struct recompute_job *job, int count,
                                      double share, struct recomputed *out);

/* Times of two candidates on the same input draws of one configuration; a pair comes from consecutive
 * calls. */
enum { PAIRS_MOST = 32 };
struct pairs {
    int count;
    double ms[2][PAIRS_MOST];
    const char *method; /* the same for both */
    bool disturbed;     /* another process used the device, or two clocks disagree */
};

/* One sampling of pairs. */
struct pair_job {
    const struct config *config;
    int pairs;             /* number of pairs, at most PAIRS_MOST */
    double budget_seconds; /* time limit; at least one pair is taken */
    int number;            /* number of the sampling, which selects other input draws */
    bool fresh;      /* use new processes, so that random placement (addresses, pages, core) is drawn anew */
    int fresh_ahead; /* number of such samplings likely to follow; their processes are started together */
};

/* Takes pairs on data of the published class, in the order A B B A or B A A B, at random. `session[0]` is A;
 * both have the same problem and device. Secretly chosen outputs are judged. If one does not pass, *result[0]
 * or *result[1] gets its outcome, and there are no pairs. Returns the worse status of both sessions. */
enum session_status session_pairs(struct session *const session[2], const struct pair_job *job,
                                  struct pairs *pairs, struct config_result *const result[2]);

/* Announces that the functions of this header will need `count` successive processes, so that they can be
 * started together where starting is slow. */
void session_start_ahead(struct session *session, int count);

/* Makes 500 calls of one configuration in a new process and judges late ones; sets result->outcome if these
 * do not pass. */
enum session_status session_late(struct session *session, const struct config *config,
                                 struct config_result *result);

/* Time of one call in seconds, without looking at its output; 0 if it did not return 0. */
enum session_status session_measure(struct session *session, const struct config *config, double *seconds);

/* Sets the time limit of each further call. */
void session_limit(struct session *session, double seconds);

/* Name of an arithmetic class ("fp32"); "wrong" past the last. */
const char *session_arithmetic_name(const struct session *session, int arithmetic);
int session_admitted(const struct session *session); /* the loosest class that the problem admits */

int session_losses(const struct session *session); /* number of processes that the candidate has ended */
const char *session_error(const struct session *session); /* after SESSION_BAD, SESSION_BROKEN */
/* Why the candidate was not called with its own allocations between guards, in its words; NULL: it was, or no
 * such call was planned. */
const char *session_unguarded(const struct session *session);

/* Evidence of cheating found so far; *count is its number. */
const struct finding *session_findings(const struct session *session, int *count);
/* Adds the contention for the device during timing to *add_to. */
void session_company(const struct session *session, struct company *add_to);
void session_seconds(const struct session *session, struct phase_seconds *add_to);

#endif
