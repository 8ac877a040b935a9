/* Repeats a configuration that timed out: with no other work of this run, and without another `unseen` that
 * times. The limit of that attempt comes from the problem's own baseline on this machine (retry.h). */
#ifndef UNSEEN_RETRY_ALONE_H
#define UNSEEN_RETRY_ALONE_H

#include "retry.h"
#include "run.h"

/* Time limit of a candidate's call when it runs alone. */
struct alone_limit {
    double seconds;
    bool measured; /* it follows the baseline's time */
    char why[160]; /* "30 times the baseline's 1.2 s" */
};

struct alone; /* the baseline, compiled once on demand, in a session of its own */

struct alone *alone_open(const struct task *task,
                         const struct session_options *options); /* NULL: out of memory */
void alone_close(struct alone *alone);

/* Returns whether the baseline takes so long that its limit exceeds --timeout. The caller holds back all
 * other work of this run. */
bool alone_is_slow(struct alone *alone, const struct config *config);

/* An attempt at a configuration: a check, or timed calls. */
struct alone_attempt {
    const struct config *config;
    bool timed;
    double time_budget; /* seconds */
};

/* Repeats an attempt under a rule of RETRY_STEP_TIME, and says the limit. It compiles and runs the baseline
 * at its first use. *repeated is false, and *result unchanged, if the user interrupts or the budget ends. The
 * caller holds back all other work of this run. */
enum session_status alone_repeat(struct alone *alone, struct session *session, const struct retry *retry,
                                 const struct retry_rule *rule, const struct alone_attempt *attempt,
                                 struct config_result *result, struct alone_limit *limit, bool *repeated);

#endif
