/* Finds one rule that separates the configurations that fail from those that pass, and confirms it on fresh
 * ones. */
#ifndef UNSEEN_EXPLAIN_H
#define UNSEEN_EXPLAIN_H

#include "gen/draw/draw.h"
#include "problems/rule.h"

struct explain_trial {
    struct config config;
    bool fails;
};

/* Runs a configuration. Returns 1: it fails; 0: it passes; -1: no result (refused, skipped, above the caps);
 * -2: stop. */
typedef int (*explain_run)(void *data, const struct config *config);

/* Explains failures. `known` has the results so far, with at least one failure. At most `runs` further
 * configurations are drawn inside the space and the caps (may be NULL), on both sides of every
 * boundary, and run. The rule is refitted until fresh runs confirm it. Two kinds of runs come on top:
 * 3/4 `runs` to test terms with the support of fewer than 20 runs, and `runs` to challenge a one-sided
 * rule. `clues` (may be NULL) are the conditions of the candidate's code: of rules that fit, one with
 * their terms is preferred. Returns 0, or -1 when memory is out. */
int explain(const struct space *space, const struct draw_caps *caps, const struct config_list *seen,
            const struct clue_list *clues, const struct explain_trial *known, int count, int runs,
            uint64_t seed, explain_run run, void *data, struct rule *out);

#endif
