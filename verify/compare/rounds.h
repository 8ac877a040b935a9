/* Renewed sampling: pairs of times of many configurations, until each is decided or four rounds are over. */
#ifndef UNSEEN_ROUNDS_H
#define UNSEEN_ROUNDS_H

#include "reports/comparison.h"
#include "verify/session/run.h"

/* A sweep takes a few pairs of every configuration that is not decided, in new processes; each round has as many sweeps as all
 * before it. The first has FIRST_SWEEPS at most: of 1200 configurations, at four looks and on two sides, 2^-20 is a p of 0.009. */
enum { ROUNDS = 4, FIRST_SWEEPS = 20, MOST_SWEEPS = FIRST_SWEEPS << (ROUNDS - 1) };

struct rounds_options {
    bool only_first;       /* one round, and nothing is decided */
    double budget_seconds; /* for the pairs of one configuration in one sweep */
    void (*progress)(void *data, int round, int sweep, int sweeps);
    void *progress_data;
};

struct rounds; /* the two candidates' sessions */

/* NULL without memory. */
struct rounds *rounds_open(const struct task *old, const struct task *new, const struct run_options *options);
void rounds_close(struct rounds *rounds);

/* One sampling of any configuration. False where one of them does not pass, or cannot be run; then there are no pairs. */
bool rounds_pairs(struct rounds *rounds, const struct pair_job *job, struct pairs *pairs);

/* Time the configurations of both of which both pass, and decide (gate_decide). Sets outcomes, too, where timed calls
 * do not pass. */
enum run_status rounds_run(struct rounds *rounds, const struct rounds_options *options,
                           struct comparison *comparison, char *error, size_t error_size);

#endif
