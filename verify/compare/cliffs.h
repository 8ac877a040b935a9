/* When is the new candidate slower? One condition on configurations, found as one on failures is (gen/explain), by fresh pairs. */
#ifndef UNSEEN_CLIFFS_H
#define UNSEEN_CLIFFS_H

#include "rounds.h"

struct cliffs_options {
    int runs;              /* fresh configurations at most; 0: no rule */
    double seconds;        /* for all of them */
    double budget_seconds; /* for the pairs of one process */
};

/* Fills comparison->rule and rule_ratio where something is slower. What cannot be told is left out, with a reason. */
void cliffs(struct rounds *rounds, const struct task *task, const struct cliffs_options *options,
            struct comparison *comparison);

#endif
