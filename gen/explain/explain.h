/* Finds one rule that separates the configurations that fail from those that pass, and confirms it on fresh
 * ones. */
#ifndef UNSEEN_EXPLAIN_H
#define UNSEEN_EXPLAIN_H

#include "gen/draw/draw.h"

struct explain_trial {
    struct config config;
    bool fails;
};

/* Runs a configuration. Returns 1: it fails; 0: it passes; -1: no result (refused, skipped, above the caps);
 * -2: stop. */
typedef int (*explain_run)(void *data, const struct config *config);

enum rule_kind {
    RULE_TWO_SIDED, /* fails where the rule holds, passes elsewhere */
    /* the rule holds on every failure; where it holds, some configurations fail, perhaps only with some
     * inputs */
    RULE_NECESSARY,
    RULE_PARTIAL /* always fails where the rule holds; some configurations fail elsewhere, too */
};

enum { MOST_UNEXPLAINED = 3 };

struct rule {
    bool present;
    enum rule_kind kind;
    bool always;                 /* the rule has no condition; `text` is "any" */
    char text[240];              /* a condition (condition.h): "k % 64 != 0 and input=special" */
    char reason[400];            /* without a rule: the reason, the attempts made and the closest condition */
    int fails_inside, inside;    /* fresh runs where the rule holds, and the failures among them */
    int passes_outside, outside; /* fresh runs elsewhere, and the passes among them */
    double precision, recall;    /* over all trials, fresh runs included */
    int runs;                    /* number of calls of `run` */
    char limit[200]; /* words about a limit of CUDA devices that one of its thresholds equals; "": none */

    /* For a necessary rule: the condition that best separates failures from passes inside it; "": none. */
    char inner[240];
    /* all runs inside the rule: those where `inner` holds, and the others */
    int inner_fails, inner_runs, other_fails, other_runs;

    int explained, failures; /* all known failures, fresh ones included, and those where the rule holds */
    struct config unexplained[MOST_UNEXPLAINED]; /* for a partial rule: the first failures elsewhere */
};

/* Explains failures. `known` has the results so far, with at least one failure. At most `runs` further
 * configurations are drawn inside the space and the caps (may be NULL), on both sides of every boundary, and
 * run. The rule is refitted until fresh runs confirm it. Two kinds of runs come on top: 3/4 `runs` to test
 * terms with the support of fewer than 20 runs, and `runs` to challenge a one-sided rule. Returns 0, or -1
 * when memory is out. */
int explain(const struct space *space, const struct draw_caps *caps, const struct config_list *seen,
            const struct explain_trial *known, int count, int runs, uint64_t seed, explain_run run,
            void *data, struct rule *out);

#endif
