/* After a run with failures, finds the simplest configuration that still fails the same way, and a rule that
 * says which configurations fail. */
#ifndef UNSEEN_DIAGNOSE_H
#define UNSEEN_DIAGNOSE_H

#include "verify/session/run.h"

struct diagnose_limits {
    int shrink_runs, explain_runs;
    int content_runs; /* single-call runs of the search for decisive input values */
    /* timeouts allowed while hangs are explained, a quarter of them for shrinking */
    int hangs;
    /* Time limit of the whole diagnosis, far above its usual time on an idle machine. If it ends the
     * diagnosis, the result says so. */
    double seconds;
};
struct diagnose_limits diagnose_limits(enum effort effort);

/* Fills result->diagnosis if a configuration failed, or if one was refused and all others passed. It may add
 * notes; nothing else changes, so a diagnosis never spoils a verdict. It leaves out facts that it cannot
 * establish. */
void diagnose(const struct task *task, const struct run_options *options,
              const struct diagnose_limits *limits, struct result *result);

#endif
