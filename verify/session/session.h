/* One worker: a candidate in a child process of its own, the memory shared with it, and the judging of
 * what it computes. Several sessions may run in threads of their own. */
#ifndef UNSEEN_SESSION_H
#define UNSEEN_SESSION_H

#include "gen/contract/space.h"
#include "problems/problem.h"
#include "reports/result.h"
#include "verify/device/device.h"
#include "verify/device/lease.h"
#include "verify/device/room.h"
#include "verify/oracle/pool.h"
#include "verify/isolate/python.h"

enum { CALL_SECONDS = 20 }; /* what one call may take where nothing else is said */

struct session_options {
    const struct problem *problem;
    const struct device *device;
    const char *object;          /* the candidate's shared object, or its module: */
    const struct python *python; /* how that is run; NULL: it is none */
    const char *log_path;        /* where what it prints goes; NULL: nowhere */
    double timeout;              /* seconds for one call */
    double memory;               /* bytes that the candidate's processes may hold together; 0: any */
    int threads;                 /* of the candidate and of the judge, each at its turn */
    const char *interpreter;     /* for the right answers of an imported task; NULL: python3 */
    struct space_tolerance
        tolerance; /* in the place of the published constants in the judgement beside ours */
    bool brief;    /* outcomes are wanted: where MPFR is expensive it hears only what could still acquit */
    int workers;   /* sessions that share the machine's memory */
    int processes; /* in so many, one after another, is timed what is short; 0: in one */
    struct lease *lease;         /* held while times are taken; NULL: none is to be had */
    struct oracle_pool *oracles; /* of an imported task; NULL: each session has its own */
    struct room *room;           /* of the device's memory; NULL: others are not known */
    const struct space *space; /* where twins of a configuration lie (session_twin.c); NULL: there are none */
};

struct session;

/* What so many sessions will need, and takes its time to start, is started, while the caller goes on. By the thread that opened
 * options->oracles. */
void session_prepare(const struct session_options *options, int count);

/* Is every output of the problem judged? Otherwise false, and text says what is missing: no candidate can be run then. */
bool session_judges(const struct problem *problem, char *text, size_t text_size);

/* NULL when out of memory. The candidate is loaded at the first configuration. */
struct session *session_open(const struct session_options *options);
void session_close(struct session *session);

enum session_status {
    SESSION_OK,     /* *result is filled */
    SESSION_BAD,    /* the candidate cannot be used at all: it does not load, lacks the symbol (usage) */
    SESSION_BROKEN, /* internal error or environment: no verdict may come out of this run */
    SESSION_SHORT   /* inside only: memory ran out for this configuration, which is then skipped */
};

/* Configurations from now on have twins, or none: what is wrong after one of the seen set, on another that nobody was given, does
 * not make it fail. They have from the start. */
void session_twins(struct session *session, bool on);

/* Run and judge one configuration: outcome, worst element, details. */
enum session_status session_check(struct session *session, const struct config *config,
                                  struct config_result *result);

/* `config` right after one call of `after` in the same process. Where it fails so and passes in a process of its own, result->pair says
 * so; else the result is that of `config` by itself. */
enum session_status session_check_after(struct session *session, const struct config *config,
                                        const struct config *after, struct config_result *result);

/* Right after session_check of a configuration that failed: where it passes in a process of its own, looks for an earlier
 * configuration of the process after which it fails, and says so in result->pair. A few times in a run. */
enum session_status session_attribute(struct session *session, const struct config *config,
                                      struct config_result *result);

/* session_check; what signal 9 ended runs once more, since it may have come from outside: a kernel that is the reason ends so
 * again. */
enum session_status session_check_settled(struct session *session, const struct config *config,
                                          struct config_result *result);

/* One call on a mixture of two contents (mixture.h), judged like any other; of the configuration that it is mixed from, which
 * `result` is about. */
struct mix;
enum session_status session_check_mix(struct session *session, const struct mix *mix,
                                      struct config_result *result);

/* Not run, or not judged: the outcome `skipped`. */
void session_skip(struct config_result *result, enum cause cause);

/* From now on say of a configuration with wrong elements which they are: of the first call that has any;
 * pattern->present is false where there are none. NULL: no more. */
void session_observe(struct session *session, struct pattern *pattern);

/* From now on copy what the first call of a configuration leaves in output t to to[t], memory of the back end and of
 * the tensor's size. NULL: no more. */
void session_copy(struct session *session, void *const *to);

struct fingerprints; /* of timed calls (fingerprints.h), kept by whoever has them computed again */

/* A configuration that is to be timed, and the seconds that it may take. */
struct timing_job {
    const struct config *config;
    double budget_seconds;
    struct config_result *result;
    bool short_of_memory;        /* set: others may have had what it lacked */
    struct fingerprints *prints; /* NULL: none are wanted */
};

/* Time configurations on data of the published kind, their calls interleaved at random, on ever new contents; judge the
 * outputs of calls chosen in secret. Sets timing of each result, and its outcome when such an output does not pass.
 * *taken: so many, from the first on, are done; the others had no memory beside these. */
enum session_status session_time_several(struct session *session, struct timing_job *job, int count,
                                         int *taken);
enum session_status session_time(struct session *session, const struct config *config, double budget_seconds,
                                 struct config_result *result);

/* A configuration that was timed, and passed. */
struct recompute_job {
    const struct config *config;
    struct fingerprints *prints;
    struct config_result *result;
};

/* What fingerprints came to. */
struct recomputed {
    int compared; /* calls that were computed again */
    int suspects; /* configurations whose calls were made again and judged, all of them */
    bool varies;  /* equal calls differ from process to process: no more were compared */
};

/* Have a process of its own compute timed calls again, in a share of the time that they took; where it comes to something else, make
 * the configuration's calls again and judge all of them. Sets the outcome of those in which a judged call does not pass. */
enum session_status session_recompute(struct session *session, const struct recompute_job *job, int count,
                                      double share, struct recomputed *out);

/* Times of two candidates on the same contents of one configuration, a pair from calls that follow each other. */
enum { PAIRS_MOST = 32 };
struct pairs {
    int count;
    double ms[2][PAIRS_MOST];
    const char *method; /* the same for both */
    bool disturbed;     /* somebody else was on the device, or two clocks disagree */
};

/* What is asked of one sampling of pairs. */
struct pair_job {
    const struct config *config;
    int pairs;             /* so many; PAIRS_MOST at most */
    double budget_seconds; /* fewer where these are spent, but one in any case */
    int number;            /* of this sampling: others are on other contents */
    bool fresh; /* in new processes: what one is lucky with (addresses, pages, a core) is drawn anew */
    int fresh_ahead; /* how many more such samplings are likely to follow, whose processes are started with these */
};

/* Take pairs, on data of the published kind, in the order A B B A or B A A B, by a coin. `session[0]` is A, and both are of the
 * same problem and device. Outputs chosen in secret are judged: *result[0], *result[1] get another outcome where they do not
 * pass, and then there are no pairs. The status of the session that is worse off. */
enum session_status session_pairs(struct session *const session[2], const struct pair_job *job,
                                  struct pairs *pairs, struct config_result *const result[2]);

/* So many processes will be wanted one after another, by the functions below and above: they are started at once, where each takes its time. */
void session_start_ahead(struct session *session, int count);

/* Make 500 calls of one configuration in a process of their own, and judge late ones; sets result->outcome when these
 * do not pass. */
enum session_status session_late(struct session *session, const struct config *config,
                                 struct config_result *result);

/* Seconds that one call takes, its output not looked at; 0 where it did not return 0. */
enum session_status session_measure(struct session *session, const struct config *config, double *seconds);

/* Another limit for each call from now on. */
void session_limit(struct session *session, double seconds);

/* Name of an arithmetic class ("fp32"); "wrong" past the last. */
const char *session_arithmetic_name(const struct session *session, int arithmetic);
int session_admitted(const struct session *session); /* the loosest class that the problem admits */

int session_losses(const struct session *session);        /* processes that the candidate has ended */
const char *session_error(const struct session *session); /* after SESSION_BAD, SESSION_BROKEN */
/* Why the candidate was not called with its own allocations between guards, in its words; NULL: it was, or none was to be. */
const char *session_unguarded(const struct session *session);

/* Evidence of cheating found so far; *count findings. */
const struct finding *session_findings(const struct session *session, int *count);
/* Who else was on the device while times were taken; added to what is there. */
void session_company(const struct session *session, struct company *add_to);
void session_seconds(const struct session *session, struct phase_seconds *add_to);

#endif
