/* The audit of a task by null kernels: what its published check lets through, and what ours does. */
#ifndef UNSEEN_AUDIT_H
#define UNSEEN_AUDIT_H

#include "nulls.h"
#include "reports/result.h"
#include "verify/session/run.h"

/* One set under one check: configurations judged, and how many a null kernel passes. It passes the check
 * when it passes all of them. */
struct audit_count {
    int configs, pass;
};

struct audit {
    struct audit_count published[NULL_KINDS]; /* the seen set, by the published constants */
    struct audit_count ours[NULL_KINDS];      /* both sets, by the allowed error */
    bool applies[NULL_KINDS];
    char passed[NULL_KINDS][RESULT_LINE_SIZE]; /* a configuration that passes ours; empty: none */
    int skipped;                               /* configurations without room in memory */
    double seconds;
};

/* RUN_BAD and RUN_BROKEN: error says why. `progress` may be NULL. */
enum run_status audit_run(const struct task *task, struct audit *audit, void (*progress)(int done, int total),
                          char *error, size_t error_size);

#endif
