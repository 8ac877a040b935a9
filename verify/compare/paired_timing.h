/* Repeated sampling of pairs of times over many configurations, until each is decided or four rounds have
 * passed. */
#ifndef UNSEEN_PAIRED_TIMING_H
#define UNSEEN_PAIRED_TIMING_H

#include "reports/record/comparison.h"
#include "verify/session/run.h"
#include "verify/session/session_timing.h"

/* A sweep takes a few pairs of every undecided configuration, in new processes. Each round has as many sweeps
 * as all rounds before it. The first has at most FIRST_SWEEPS: for 1200 configurations, four looks and two
 * sides, 2^-20 is an adjusted p of 0.009. */
enum { ROUNDS = 4, FIRST_SWEEPS = 20, MOST_SWEEPS = FIRST_SWEEPS << (ROUNDS - 1) };

struct paired_timing_options {
    bool only_first;       /* one round without decisions */
    double budget_seconds; /* time limit for the pairs of one configuration in one sweep */
    void (*progress)(void *data, int round, int sweep, int sweeps);
    void *progress_data;
};

struct rounds; /* sessions of the two candidates */

/* NULL: out of memory. */
struct rounds *paired_timing_open(const struct task *old, const struct task *new,
                                  const struct run_options *options);
void paired_timing_close(struct rounds *rounds);

/* Takes pairs of one configuration once. False: a candidate does not pass it, or cannot run; then there are
 * no pairs. */
bool paired_timing_pairs(struct rounds *rounds, const struct pair_job *job, struct pairs *pairs);

/* Times the configurations that both candidates pass, and decides (gate_decide). Also sets outcomes if timed
 * calls fail. */
enum run_status paired_timing_run(struct rounds *rounds, const struct paired_timing_options *options,
                                  struct comparison *comparison, char *error, size_t error_size);

#endif
