/* Shared by the parts of a diagnosis. */
#ifndef UNSEEN_DIAGNOSE_INTERNAL_H
#define UNSEEN_DIAGNOSE_INTERNAL_H

#include "diagnose.h"
#include "shrinking.h"

struct diagnosing {
    const struct task *task;
    const struct diagnose_limits *limits;
    struct result *result;
    struct shrinking shrinking;
    enum outcome outcome;       /* of the failure to explain */
    struct shrinking_rate rate; /* repetitions of that failure */
    struct diagnosis *out;
    bool told;            /* a note says how hangs are explained */
    bool hangs;           /* a configuration of the sets timed out */
    double limit;         /* --timeout */
    struct config *asked; /* configurations that were run for a rule, not for shrinking */
    int asked_count, asked_room;
};

/* The outcome of the checks, which a diagnosis repeats. A configuration that failed only in timed calls, or
 * in its sibling check, has passed them. */
enum outcome diagnosing_outcome(const struct diagnosing *d, const struct config_result *result);
bool diagnosing_fails(const struct diagnosing *d, const struct config_result *result);
/* Returns whether the configuration belongs to the run's sets. Steps of shrinking do not. */
bool diagnosing_is_of_set(const struct diagnosing *d, const struct config_result *result);

/* Copies a rule into the result; without its limit, which is one of CUDA devices, on other devices. */
void diagnosing_record(const struct diagnosing *d, const struct rule *rule, struct rule *out);

/* Runs a configuration for a rule and adds it to d->asked. False: no more runs are allowed. */
bool diagnosing_ask(struct diagnosing *d, const struct config *config, struct config_result *result);

/* --- hangs.c --- */

/* Returns why too few hangs fit into the time of a diagnosis to find anything, or NULL. */
const char *hangs_are_dear(const struct diagnosing *d);

/* A verdict has waited for timeouts. A diagnosis of a candidate that hangs waits for a fraction of --timeout
 * in each run, and for a number of timeouts that the effort limits. */
void hangs_bound(struct diagnosing *d, struct run_options *options);
/* Allows the timeouts of one search for a rule, and returns the caps of its runs. Hangs are explained by
 * small configurations only, for which that fraction is ample. */
struct draw_caps hangs_allow(struct diagnosing *d, enum outcome outcome);
/* If hangs are explained, runs the smallest configuration again within --timeout. False: it ends, so that
 * short limits tell nothing of this candidate. */
bool hangs_confirm(struct diagnosing *d);

/* failure_clusters.c: finds a rule for each kind of failure, if no single rule fits all of them, and one for
 * the configurations that a failing candidate refuses. */
void clusters_explain(struct diagnosing *d);

#endif
