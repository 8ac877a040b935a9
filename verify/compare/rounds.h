/* Renewed sampling: pairs of times of many configurations, until each is decided or three rounds are over. */
#ifndef UNSEEN_ROUNDS_H
#define UNSEEN_ROUNDS_H

#include "reports/comparison.h"
#include "verify/session/run.h"

enum { ROUNDS = 3 };

struct rounds_options {
    double
        budget_seconds; /* for the pairs of one configuration in the first round; doubled in each that follows */
    void (*progress)(void *data, int round, int i, int count);
    void *progress_data;
};

struct rounds; /* the two candidates' sessions */

/* NULL without memory. */
struct rounds *rounds_open(const struct task *old, const struct task *new, const struct run_options *options);
void rounds_close(struct rounds *rounds);

/* Time the configurations of both of which both pass, and decide (gate_decide). Sets outcomes, too, where timed calls
 * do not pass. */
enum run_status rounds_run(struct rounds *rounds, const struct rounds_options *options,
                           struct comparison *comparison, char *error, size_t error_size);

#endif
