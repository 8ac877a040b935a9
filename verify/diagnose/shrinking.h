/* From a failure of a candidate to the simplest configuration that fails the same way: does it repeat,
 * how often is a step tried, what counts as the same. gen/shrink.h says which steps. */
#ifndef UNSEEN_SHRINKING_H
#define UNSEEN_SHRINKING_H

#include "gen/explain/shrink.h"
#include "probe.h"

/* A failure that comes and goes is asked for so often before it counts as gone. */
enum { SHRINKING_TRIES = 4 };

struct shrinking {
    /* set by the caller */
    struct probe *probe;
    const struct space *space;
    bool published; /* outcomes are those of the published check */
    int steps;      /* at most so many are tried, */
    int runs;       /* with so many real runs (0: as many as they need), */
    double end;     /* and nothing is run once clock_seconds is above this (0: no such time) */
    int timeouts;   /* nor after so many of them (0: as many as there are) */
    void (*observe)(void *data, const struct config_result *result); /* after every step; may be NULL */
    void *observe_data;

    /* found */
    struct config_result from, best; /* results of the first and of the simplest configuration */
    struct shrunk shrunk;
    bool flaky;               /* it does not fail the same way every time */
    int spent;                /* real runs of steps */
    bool late;                /* `end` came before all was run, or the budget was over */
    int timed_out;            /* runs that did */
    int skipped;              /* steps that this machine could not run */
    enum probe_status status; /* of the last run; but for PROBE_OK nothing is run any more */
};

/* The failure to start from, run already. Call it before what follows. */
void shrinking_from(struct shrinking *shrinking, const struct config_result *failure);

enum outcome shrinking_outcome(const struct shrinking *shrinking, const struct config_result *result);
bool shrinking_is_same(const struct shrinking *shrinking, const struct config_result *result);

/* Runs it now, whatever is known of it. False, and *result tells nothing: it is over. */
bool shrinking_run(struct shrinking *shrinking, const struct config *config, struct config_result *result);

/* The same of a pair: `config` right after `after`. */
bool shrinking_after(struct shrinking *shrinking, const struct config *config, const struct config *after,
                     struct config_result *result);

/* The same of one call on a mixture of contents. */
bool shrinking_mix(struct shrinking *shrinking, const struct mix *mix, struct config_result *result);

/* How often it fails when it is run again, and how often the same way. */
struct shrinking_rate {
    int runs, failed, same;
};
struct shrinking_rate shrinking_again(struct shrinking *shrinking, const struct config *config, int times);

/* shrinking_again, and learns whether the failure is flaky. One that hangs costs the whole timeout every
 * time: it is taken as it is, after no runs. */
struct shrinking_rate shrinking_repeat(struct shrinking *shrinking, const struct config *config, int times);

/* Which elements of `best` are wrong: runs it again where it may have any. pattern->present is false where none is known. */
void shrinking_pattern(struct shrinking *shrinking, struct pattern *pattern);

/* The search itself, from `config`, the failure's own: fills `best` and `shrunk`. -1: out of memory. */
int shrinking_search(struct shrinking *shrinking, const struct config *config);

#endif
