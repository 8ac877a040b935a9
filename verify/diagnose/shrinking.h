/* Shrinks a candidate's failure to the simplest configuration that fails the same way. Decides whether a
 * failure repeats, how often a step is tried, and which failures are the same. gen/shrink/shrink.h chooses
 * the steps. */
#ifndef UNSEEN_SHRINKING_H
#define UNSEEN_SHRINKING_H

#include "gen/shrink/shrink.h"
#include "probe.h"

/* A flaky failure counts as gone if so many tries do not show it. */
enum { SHRINKING_TRIES = 4 };

struct shrinking {
    /* set by the caller */
    struct probe *probe;
    const struct space *space;
    bool published; /* outcomes are those of the published check */
    int steps;      /* steps to try at most */
    int runs;       /* their real runs at most (0: no limit) */
    double end;     /* time of clock_seconds after which nothing is run (0: no limit) */
    int timeouts;   /* timeouts after which nothing is run (0: no limit) */
    /* called after every step; may be NULL */
    void (*observe)(void *data, const struct config_result *result);
    void *observe_data;

    /* found */
    struct config_result from, best; /* results of the first and of the simplest configuration */
    struct shrunk shrunk;
    bool flaky;               /* the outcome varies from run to run */
    int spent;                /* real runs of steps */
    bool late;                /* `end` or --budget cut the search short */
    int timed_out;            /* runs that timed out */
    int skipped;              /* steps above this machine's caps */
    enum probe_status status; /* of the last run; unless it is PROBE_OK, nothing more is run */
};

/* Sets the failure to start from, which has been run. Call this before the functions below. */
void shrinking_from(struct shrinking *shrinking, const struct config_result *failure);

/* The outcome of the checks, or of the published check (`published`). */
enum outcome shrinking_outcome(const struct shrinking *shrinking, const struct config_result *result);
/* Returns whether the outcome equals that of the first failure. */
bool shrinking_is_same(const struct shrinking *shrinking, const struct config_result *result);

/* Runs a configuration now, even if its result is known. False: no more runs are allowed, and *result is
 * undefined. */
bool shrinking_run(struct shrinking *shrinking, const struct config *config, struct config_result *result);

/* Like shrinking_run, for `config` right after `after`. */
bool shrinking_after(struct shrinking *shrinking, const struct config *config, const struct config *after,
                     struct config_result *result);

/* Like shrinking_run, for one call on a blend of two input draws. */
bool shrinking_mix(struct shrinking *shrinking, const struct mix *mix, struct config_result *result);

/* Counts of repeated runs: all of them, failed ones, and those with the outcome of the first failure. */
struct shrinking_rate {
    int runs, failed, same;
};
struct shrinking_rate shrinking_again(struct shrinking *shrinking, const struct config *config, int times);

/* Like shrinking_again, and sets `flaky` if the outcome varies. A hang is not repeated, since each one costs
 * a whole timeout: all counts are 0 then. */
struct shrinking_rate shrinking_repeat(struct shrinking *shrinking, const struct config *config, int times);

/* Finds which elements of `best` are wrong, by running it again if its outcome may have any. pattern->present
 * is false if none is known. */
void shrinking_pattern(struct shrinking *shrinking, struct pattern *pattern);

/* Searches from `config`, which must be the first failure's. Fills `best` and `shrunk`. Returns 0, or -1: out
 * of memory. */
int shrinking_search(struct shrinking *shrinking, const struct config *config);

#endif
