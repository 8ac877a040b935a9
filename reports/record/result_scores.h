/* Scores of a result, ours and published ones. */
#ifndef UNSEEN_RESULT_SCORES_H
#define UNSEEN_RESULT_SCORES_H

#include <stdbool.h>

/* Scores of a set that can serve as rewards, ours and published ones; doc/scores.md defines each. */
enum score_name {
    SCORE_OURS,
    SCORE_PASS_RATE,
    SCORE_AKA_POINTS,
    SCORE_AKA_BOUNDED,
    SCORE_CONDITIONAL,
    SCORE_FAST_0,
    SCORE_FAST_05,
    SCORE_FAST_08,
    SCORE_FAST_1,
    SCORE_FAST_15,
    SCORE_FAST_2,
    SCORE_PEAK_FRACTION,
    SCORE_SOL,
    SCORE_TABLE,
    SCORE_NAMES
};

enum score_state {
    SCORE_NONE,         /* not available: no times, no baseline, no table */
    SCORE_VALUE,        /* a number */
    SCORE_INCONCLUSIVE, /* the measurements are too few or too disturbed for a number */
    SCORE_INCOMPARABLE, /* the machine does not reach the speed at which its ceilings were measured */
    SCORE_STATES
};
const char *score_state_name(enum score_state state); /* "none", "value", "inconclusive", "not comparable" */

struct score_value {
    enum score_state state;
    double value;
    char reason[200]; /* one clause for people; also present beside a number */
};

/* Configurations by which of candidate and baseline pass: both, the baseline alone, the candidate alone,
 * neither. `unknown`: the baseline was not judged. They add up to the set's planned configurations. */
struct score_quadrants {
    int both, regression, improvement, neither, unknown;
};

struct result_scores {
    bool present;
    bool compared; /* there was a baseline */
    struct score_value seen[SCORE_NAMES], unseen[SCORE_NAMES];
    struct score_quadrants seen_quadrants, unseen_quadrants;
};

#endif
