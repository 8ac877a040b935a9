/* After a run with failures: the simplest configuration that still fails so, and the rule that says when. */
#ifndef UNSEEN_DIAGNOSE_H
#define UNSEEN_DIAGNOSE_H

#include "verify/session/run.h"

struct diagnose_limits {
    int shrink_runs, explain_runs;
    int content_runs; /* of one call each, where it depends on the values */
    int hangs; /* runs that may time out where hangs are explained, each after a tenth of --timeout; a quarter of them shrink */
    double
        seconds; /* for all: far more than the runs take on a machine that does nothing else. What is not done by then is
                     * not done, and the result says so */
};
struct diagnose_limits diagnose_limits(enum effort effort);

/* Fills result->diagnosis where something failed, or where everything else passed and something was refused;
 * nothing else is touched. What cannot be told is left out: a diagnosis never spoils a verdict. */
void diagnose(const struct task *task, const struct run_options *options,
              const struct diagnose_limits *limits, struct result *result);

#endif
