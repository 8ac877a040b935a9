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

struct rule {
    bool present;
    bool always;                 /* it has no condition: `text` is "any" */
    char text[240];              /* a condition (condition.h): "k % 64 != 0 and input=special" */
    char reason[160];            /* where there is none: why */
    int fails_inside, inside;    /* fresh runs that the rule says fail: so many did, of so many */
    int passes_outside, outside; /* fresh runs that it says pass */
    double precision, recall;    /* over everything known, fresh runs included */
    int runs;                    /* calls of `run` */
};

/* `known` is what has been run already, at least one failing. At most `runs` further configurations are
 * drawn inside the space and the caps (may be NULL), on both sides of every boundary and inside every
 * leaf, and run; the rule is refitted until fresh ones confirm it. Returns 0, -1 when memory is out. */
int explain(const struct space *space, const struct draw_caps *caps, const struct config_list *seen,
            const struct explain_trial *known, int count, int runs, uint64_t seed, explain_run run,
            void *data, struct rule *out);

#endif
