/* When a configuration runs again. retry.c holds one table of rules; every part that repeats a configuration
 * asks it. doc/architecture.md shows the same table. */
#ifndef UNSEEN_RETRY_H
#define UNSEEN_RETRY_H

#include "reports/record/result.h"

/* The parts that ask, innermost first. Each repeats all that the preceding parts do. */
enum retry_step {
    RETRY_STEP_PROCESS, /* session_check.c: in the candidate's processes */
    RETRY_STEP_MEMORY,  /* session_check.c, session_time.c: inside the gate for device memory */
    RETRY_STEP_SIGNAL,  /* session_check.c, session_time.c */
    RETRY_STEP_TIME,    /* run_retry.c, verify/cli/cmd_check.c: on the whole machine */
    RETRY_STEP_SIBLING, /* sibling_check.c: a sibling was called after the configuration */
    RETRY_STEP_SEARCH,  /* pair_search.c: the earlier configuration that causes a failure is searched */
    RETRY_STEP_FOUND,   /* pair_search.c: the same, once such a pair is known */
    RETRY_STEP_AFTER    /* pair_search.c: the user has named the earlier configuration */
};

/* Knowledge beside the result that a rule may require: a set of bits. */
enum retry_facts {
    RETRY_NO_FACTS = 0,
    /* the process had raised a Python exception before, and a new process is not known to raise this one */
    RETRY_EXCEPTION_BEFORE = 1,
    RETRY_MEMORY_ELSEWHERE = 2, /* other processes may have held the memory that was lacking */
    RETRY_NO_HANG_YET = 4,      /* none of this run has timed out alone: in a call, or while loading */
    RETRY_SLOW_BASELINE = 8     /* the problem's baseline suggests a longer limit than --timeout */
};

enum retry_condition {
    RETRY_AS_BEFORE,        /* in the process at hand, or a new one if the candidate has ended it */
    RETRY_NEW_PROCESS,      /* the first call of a process */
    RETRY_EXCLUSIVE_MEMORY, /* while no other `unseen` holds device memory (memory_gate.h) */
    /* no other work of this run, the lease held, the time limit of loading unchanged */
    RETRY_ALONE,
    RETRY_ALONE_BASELINE, /* the same, with the time limit that the problem's baseline suggests */
    /* by itself in a new process, then after the earlier configuration in another new process */
    RETRY_BOTH_ORDERS
};

enum retry_counts {
    RETRY_LAST_COUNTS, /* the last result replaces the first */
    /* the last one, but a refusal for lack of memory becomes `skipped`, a time is left out (memory_short.c)
     */
    RETRY_LAST_COUNTS_IF_MEMORY,
    /* the failure, if the configuration passes by itself and fails after the other each time */
    RETRY_PAIR_COUNTS
};

struct retry_rule {
    const char *name;
    enum retry_step step;
    unsigned outcomes, causes, stages; /* sets of bits: 1 << OUTCOME_.., CAUSE_.., STAGE_.. */
    unsigned facts;                    /* all of them must hold */
    bool in_budget;                    /* not once --budget is over */
    enum retry_condition condition;
    int times; /* most repetitions */
    enum retry_counts counts;
};

enum { RETRY_RULES = 11 };
const struct retry_rule *retry_rules(void); /* [RETRY_RULES] */

/* The repetitions of one configuration at one step. */
struct retry {
    enum retry_step step;
    struct config_result before; /* the result before the first run; every run begins with it */
    int done;
};

struct retry retry_begin(enum retry_step step, const struct config_result *before);

/* The rule by which the configuration runs again, and counts the repetition. NULL: `result` stands, or the
 * user has interrupted. */
const struct retry_rule *retry_again(struct retry *retry, const struct config_result *result, unsigned facts);

/* The rule that applies to a result, however often it has run. */
const struct retry_rule *retry_find(enum retry_step step, const struct config_result *result, unsigned facts);

/* The number of repetitions at a step that has one rule. */
int retry_times(enum retry_step step);

#endif
