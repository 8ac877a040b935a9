/* How a configuration, and a run, can end: outcomes, what decided them, who answers for them, and verdicts. */
#ifndef UNSEEN_OUTCOME_H
#define UNSEEN_OUTCOME_H

#include <stdbool.h>

enum outcome {
    OUTCOME_PASS,
    OUTCOME_WRONG,     /* an element outside its allowed error */
    OUTCOME_UNWRITTEN, /* an output element still holds poison */
    OUTCOME_OVERRUN,   /* touched memory outside a tensor */
    OUTCOME_MODIFIED,  /* changed an input */
    OUTCOME_UNSTABLE,  /* different results on equal inputs beyond the allowed error */
    OUTCOME_REFUSED,   /* returned nonzero */
    OUTCOME_CRASH,
    OUTCOME_TIMEOUT,
    OUTCOME_EXCEEDED, /* held more main memory, or more processes and threads, than it may */
    OUTCOME_SKIPPED,  /* not run, with a reason; never counted as a pass */
    OUTCOME_COUNT
};

enum paint { PAINT_GOOD, PAINT_DOUBTFUL, PAINT_BAD, PAINT_STRONG };

/* What every part of the tool knows about an outcome. */
struct outcome_traits {
    const char *name; /* "pass", "wrong", ... */
    bool fails;       /* the one definition of a failure: neither right, nor refused, nor skipped */
    bool
        goes_on; /* the candidate's process lives and answers: the configuration's other calls are made, too */
    enum paint paint;
};
const struct outcome_traits *outcome_traits(enum outcome outcome);
const char *outcome_name(enum outcome outcome);
bool outcome_fails(enum outcome outcome);
bool outcome_is_rejected(enum outcome outcome); /* judged and not passed: a failure, or refused */

/* What decided the outcome. */
enum cause {
    CAUSE_NONE,      /* it passed */
    CAUSE_VALUE,     /* elements outside their allowed error, or never written */
    CAUSE_INDEX,     /* values are right where the indices beside them are not */
    CAUSE_GUARD,     /* touched an address that belongs to no tensor */
    CAUSE_SLACK,     /* wrote between a tensor and its guard */
    CAUSE_GAP,       /* wrote between the rows of a tensor that lie apart */
    CAUSE_INPUT,     /* an input holds other bytes after the call */
    CAUSE_REPEAT,    /* equal inputs gave different results */
    CAUSE_RETURN,    /* the call returned nonzero */
    CAUSE_END,       /* its process ended: a signal, an exit, an error of the device */
    CAUSE_KILLED,    /* the same by signal 9, which may have come from outside */
    CAUSE_CHANNEL,   /* its process wrote where only the runner answers */
    CAUSE_TIME,      /* no answer in time */
    CAUSE_MEMORY,    /* skipped: memory ran out */
    CAUSE_CAPS,      /* skipped: more than this machine allows one configuration */
    CAUSE_OPEN,      /* skipped: more elements in doubt than MPFR is asked for */
    CAUSE_UNTOLD,    /* skipped: of an imported task, no right answer can be told here */
    CAUSE_FAIL_FAST, /* skipped: another one failed before */
    CAUSE_PATIENCE,  /* skipped: enough timed out, exceeded a bound or died while loading before */
    CAUSE_LIMIT,     /* more memory, or more processes, than its bound */
    CAUSE_BUDGET,    /* skipped: --budget was over */
    CAUSE_COUNT
};
const char *cause_name(enum cause cause); /* "value", "guard", ... */

/* Who answers for the end of a run, or of a configuration (doc/scores.md). The candidate's own ends are worth what a failure
 * is worth. The others are no reason to rank a candidate. */
enum owner {
    OWNER_NOBODY,    /* nothing went wrong */
    OWNER_CANDIDATE, /* its text, its object, its process */
    OWNER_MACHINE,   /* memory, processes, the disk, the driver */
    OWNER_JUDGE,     /* the right answer is not known closely enough */
    OWNER_SETTINGS,  /* options, files and interrupts of the user */
    OWNER_COUNT
};
const char *owner_name(enum owner owner); /* "candidate", "machine", ... */
enum owner cause_owner(enum cause cause);

/* What the candidate was doing then. */
enum stage {
    STAGE_FIRST,   /* the first call */
    STAGE_FRESH,   /* other contents at the same addresses */
    STAGE_MOVED,   /* these contents again at other addresses */
    STAGE_NEAR,    /* these contents at these addresses, but for one element */
    STAGE_OWN,     /* in another process, what it allocates itself between guards */
    STAGE_TWIN,    /* a configuration that differs in one axis, right after this one: right by itself */
    STAGE_TIMED,   /* calls that are timed, or late ones: all checks had passed */
    STAGE_LOADING, /* its object was being loaded */
    STAGE_NOT_RUN,
    STAGE_COUNT
};
const char *stage_name(enum stage stage); /* "first", "moved", "not run", ... */

/* Of a tensor's memory, where an access beside it went. */
enum side { SIDE_NONE, SIDE_BELOW, SIDE_ABOVE, SIDE_COUNT };
const char *side_name(enum side side); /* "below", "above"; NULL: none */

struct reason {
    enum cause cause;
    enum stage stage;
    enum side side;
    int tensor; /* CAUSE_GUARD, CAUSE_SLACK, CAUSE_GAP, CAUSE_INPUT: which; -1: not known */
};

enum verdict {
    VERDICT_GENERAL,
    VERDICT_LIMITED,
    VERDICT_SPECIALIZED,
    VERDICT_BROKEN,
    VERDICT_CHEATING,
    VERDICT_FORBIDDEN, /* it uses what --forbid names, whatever it passes */
    VERDICT_INCONCLUSIVE,
    VERDICT_COUNT
};
const char *verdict_name(enum verdict verdict);
enum paint verdict_paint(enum verdict verdict);

#endif
