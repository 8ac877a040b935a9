/* Finds a condition under which the new candidate is slower, as for failures (gen/rules), from new pairs of
 * times. */
#ifndef UNSEEN_REGRESSION_RULE_H
#define UNSEEN_REGRESSION_RULE_H

#include "paired_timing.h"

struct regression_rule_options {
    int runs;              /* maximum number of new configurations; 0: no rule */
    double seconds;        /* time limit for all of them */
    double budget_seconds; /* per configuration: time limit for the pairs of one process */
};

/* Fills comparison->rule and rule_ratio if something is slower. Without a rule it records the reason. */
void cliffs(struct rounds *rounds, const struct task *task, const struct regression_rule_options *options,
            struct comparison *comparison);

#endif
