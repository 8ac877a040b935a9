/* Times of one candidate, or of two in turns, and the recomputation of timed calls. */
#ifndef UNSEEN_SESSION_TIMING_H
#define UNSEEN_SESSION_TIMING_H

#include "session.h"

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

/* Adds the contention for the device during timing to *add_to. */
void session_company(const struct session *session, struct company *add_to);

#endif
