/* Audits a task by null kernels: which of them its published check accepts, and which ours accepts. */
#ifndef UNSEEN_AUDIT_H
#define UNSEEN_AUDIT_H

#include "nulls.h"
#include "reports/record/result.h"
#include "verify/session/run.h"

/* One set under one check: the judged configurations, and how many a null kernel passes. It passes the check
 * if it passes all of them. */
struct audit_count {
    int configs, pass;
};

struct audit {
    struct audit_count published[NULL_KINDS]; /* the seen set, by the published tolerances */
    struct audit_count ours[NULL_KINDS];      /* both sets, by our allowed errors */
    bool applies[NULL_KINDS];
    char passed[NULL_KINDS][RESULT_LINE_SIZE]; /* a configuration that passes our check; empty: none */
    int skipped;                               /* configurations that do not fit into memory */
    double seconds;
};

/* Runs the audit. RUN_BAD and RUN_BROKEN: error says why. `progress` may be NULL. */
enum run_status audit_run(const struct task *task, struct audit *audit, void (*progress)(int done, int total),
                          char *error, size_t error_size);

#endif
