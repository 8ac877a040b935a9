/* The calls of a coverage; used by branch_coverage.c and steering.c. */
#ifndef UNSEEN_BRANCH_COVERAGE_INTERNAL_H
#define UNSEEN_BRANCH_COVERAGE_INTERNAL_H

#include "branch_coverage.h"
#include "tracing.h"

struct covering_calls {
    struct branch_coverage *coverage;
    struct task *task;
    struct tracing tracing;
    double work;     /* of all calls so far, in seconds as hits and sizes suggest */
    double guessed;  /* of the same calls, by sizes alone */
    double deadline; /* by clock_seconds */
    int newest;      /* the branch that was taken last for the first time */
    bool stopped;    /* no further call is made */
};

/* An estimate of the seconds of a call, from its sizes and the calls before. */
double call_work(const struct covering_calls *calls, const struct config *config);

/* Makes a call and counts what it takes, even if it crashes. Returns the number of branches that were not
 * taken before; -1: the call was not made. */
int covering_call(struct covering_calls *calls, const struct config *config);

/* Returns whether the last call took this branch. */
bool covering_took(const struct covering_calls *calls, int branch);

#endif
