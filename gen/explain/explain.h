/* Explaining: one rule that separates the configurations that fail from those that pass, confirmed on
 * fresh ones. */
#ifndef UNSEEN_EXPLAIN_H
#define UNSEEN_EXPLAIN_H

#include "gen/draw/draw.h"

struct explain_trial {
    struct config config;
    bool fails;
};

/* 1: fails, 0: passes, -1: neither (refused, skipped, above the caps): tells nothing; -2: stop. */
typedef int (*explain_run)(void *data, const struct config *config);

enum rule_kind {
    RULE_TWO_SIDED, /* fails where it holds, passes elsewhere */
    RULE_NECESSARY, /* fails nowhere else; where it holds, some fail: with some contents, say */
    RULE_PARTIAL    /* always fails where it holds; elsewhere some fail too */
};

enum { MOST_UNEXPLAINED = 3 };

struct rule {
    bool present;
    enum rule_kind kind;
    bool always;                 /* it has no condition: `text` is "any" */
    char text[240];              /* a condition (condition.h): "k % 64 != 0 and input=special" */
    char reason[400];            /* where there is none: why, what was tried, and what came closest */
    int fails_inside, inside;    /* fresh runs that the rule says fail: so many did, of so many */
    int passes_outside, outside; /* fresh runs that it says pass */
    double precision, recall;    /* over everything known, fresh runs included */
    int runs;                    /* calls of `run` */
    char limit[200];             /* the limit of a device that one of its thresholds is, in words; "": none */

    /* Of a necessary one: the condition that most divides what fails inside from what passes there; "": none. */
    char inner[240];
    int inner_fails, inner_runs, other_fails, other_runs; /* inside, where it holds and where not: all runs */

    int explained, failures; /* all failures known, fresh ones included, and those of them where it holds */
    struct config unexplained[MOST_UNEXPLAINED]; /* of a partial one: the first failures elsewhere */
};

/* `known` is what has been run already, at least one failing. At most `runs` further configurations are
 * drawn inside the space and the caps (may be NULL), on both sides of every boundary and inside every
 * leaf, and run; the rule is refitted until fresh ones confirm it. Up to three quarters as many more go to the terms of a rule
 * that stands and that fewer than 20 runs speak for, and to challenges of one that is sure of one side. Returns 0, -1 when memory is out. */
int explain(const struct space *space, const struct draw_caps *caps, const struct config_list *seen,
            const struct explain_trial *known, int count, int runs, uint64_t seed, explain_run run,
            void *data, struct rule *out);

#endif
