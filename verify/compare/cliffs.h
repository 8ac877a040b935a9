/* Finds a condition under which the new candidate is slower, as for failures (gen/explain), from new pairs of
 * times. */
#ifndef UNSEEN_CLIFFS_H
#define UNSEEN_CLIFFS_H

#include "rounds.h"

struct cliffs_options {
    int runs;              /* maximum number of new configurations; 0: no rule */
    double seconds;        /* time limit for all of them */
    double budget_seconds; /* per configuration: time limit for the pairs of one process */
};

/* Fills comparison->rule and rule_ratio if something is slower. Without a rule it records the reason. */
void cliffs(struct rounds *rounds, const struct task *task, const struct cliffs_options *options,
            struct comparison *comparison);

#endif
