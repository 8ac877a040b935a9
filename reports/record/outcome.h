/* How a configuration or a run can end: outcomes, their causes, who is responsible, and verdicts. */
#ifndef UNSEEN_OUTCOME_H
#define UNSEEN_OUTCOME_H

#include <stdbool.h>

enum outcome {
    OUTCOME_PASS,
    OUTCOME_WRONG,     /* an element outside its allowed error */
    OUTCOME_UNWRITTEN, /* an output element still holds poison */
    OUTCOME_OVERRUN,   /* touched memory outside a tensor */
    OUTCOME_MODIFIED,  /* changed an input */
    OUTCOME_UNSTABLE,  /* equal inputs gave results that differ by more than the allowed error */
    OUTCOME_REFUSED,   /* the call returned nonzero */
    OUTCOME_CRASH,
    OUTCOME_TIMEOUT,
    OUTCOME_EXCEEDED, /* used more main memory, or more processes and threads, than its limit */
    OUTCOME_SKIPPED,  /* not run, with a reason; never counted as a pass */
    OUTCOME_COUNT
};

enum paint { PAINT_GOOD, PAINT_DOUBTFUL, PAINT_BAD, PAINT_STRONG };

/* Properties of an outcome, in one table for all parts of the tool. */
struct outcome_traits {
    const char *name; /* "pass", "wrong", ... */
    bool fails;       /* it is a failure: neither passed, nor refused, nor skipped */
    bool
        /* the candidate process is still alive, so the configuration's other calls are made as well */
        goes_on;
    enum paint paint;
};
const struct outcome_traits *outcome_traits(enum outcome outcome);
const char *outcome_name(enum outcome outcome);
bool outcome_fails(enum outcome outcome);
bool outcome_is_rejected(enum outcome outcome); /* judged and not passed: failed or refused */

/* The event that decided the outcome. */
enum cause {
    CAUSE_NONE,         /* it passed */
    CAUSE_VALUE,        /* elements outside their allowed error, or never written */
    CAUSE_INDEX,        /* values are correct, but the indices returned with them are not */
    CAUSE_GUARD,        /* access to an address outside all tensors, caught by a guard page */
    CAUSE_SLACK,        /* write between a tensor and its guard page */
    CAUSE_GAP,          /* write into the padding between the rows of a strided tensor */
    CAUSE_INPUT,        /* an input has changed after the call */
    CAUSE_REPEAT,       /* equal inputs gave different results */
    CAUSE_RETURN,       /* the call returned nonzero */
    CAUSE_END,          /* the candidate process ended: a signal, an exit, a device error */
    CAUSE_KILLED,       /* ended by signal 9, which may come from outside (such as the OOM killer) */
    CAUSE_CHANNEL,      /* the candidate wrote to the channel that is reserved for the runner */
    CAUSE_TIME,         /* no answer in time; skipped: no answer within a shortened limit */
    CAUSE_MEMORY,       /* skipped: memory ran out */
    CAUSE_CAPS,         /* skipped: exceeds this machine's limits for one configuration */
    CAUSE_OPEN,         /* skipped: more elements are in doubt than MPFR may be asked about */
    CAUSE_NO_REFERENCE, /* skipped: no reference value can be computed here (imported tasks) */
    CAUSE_FAIL_FAST,    /* skipped: --fail-fast, and another configuration failed before */
    CAUSE_PATIENCE, /* skipped: too many configurations timed out, exceeded a limit or died while loading */
    CAUSE_LIMIT,    /* more memory or more processes than its limit */
    CAUSE_BUDGET,   /* skipped: the time of --budget ran out */
    CAUSE_COUNT
};
const char *cause_name(enum cause cause); /* "value", "guard", ... */

/* The party responsible for the end of a run or of a configuration (doc/scores.md). If it is the candidate,
 * the reward is that of a failure. Otherwise the end is no reason to rank a candidate. */
enum owner {
    OWNER_NOBODY,    /* nothing went wrong */
    OWNER_CANDIDATE, /* its source, its shared object, its process */
    OWNER_MACHINE,   /* memory, processes, the disk, the driver */
    OWNER_JUDGE,     /* the reference value is not known precisely enough */
    OWNER_SETTINGS,  /* options, files and interrupts of the user */
    OWNER_COUNT
};
const char *owner_name(enum owner owner); /* "candidate", "machine", ... */
enum owner cause_owner(enum cause cause);

/* The call during which it happened. */
enum stage {
    STAGE_FIRST, /* the first call */
    STAGE_FRESH, /* other input values at the same addresses */
    STAGE_MOVED, /* the same input values at other addresses */
    STAGE_NEAR,  /* the same input values and addresses, except for one element */
    STAGE_OWN,   /* in another process, where the candidate's own allocations lie between guard pages */
    /* cache probe: a configuration that differs in one axis, right after this one, and correct by itself */
    STAGE_TWIN,
    STAGE_TIMED,   /* timed or later calls, after all checks passed */
    STAGE_LOADING, /* the shared object was being loaded */
    STAGE_NOT_RUN,
    STAGE_COUNT
};
const char *stage_name(enum stage stage); /* "first", "moved", "not run", ... */

/* The side of a tensor on which an access missed it. */
enum side { SIDE_NONE, SIDE_BELOW, SIDE_ABOVE, SIDE_COUNT };
const char *side_name(enum side side); /* "below", "above"; NULL: none */

struct reason {
    enum cause cause;
    enum stage stage;
    enum side side;
    int tensor; /* the tensor, for CAUSE_GUARD, CAUSE_SLACK, CAUSE_GAP, CAUSE_INPUT; -1: not known */
};

enum element_verdict {
    VERDICT_GENERAL,
    VERDICT_LIMITED,
    VERDICT_SPECIALIZED,
    VERDICT_BROKEN,
    VERDICT_CHEATING,
    VERDICT_FORBIDDEN, /* it uses something that --forbid names, however many configurations pass */
    VERDICT_INCONCLUSIVE,
    VERDICT_COUNT
};
const char *verdict_name(enum element_verdict verdict);
enum paint verdict_paint(enum element_verdict verdict);

#endif
