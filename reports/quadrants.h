/* Several candidates on the same configurations. */
#ifndef UNSEEN_QUADRANTS_H
#define UNSEEN_QUADRANTS_H

#include "result.h"

/* Configurations of one set that both runs judged (equal lines, seeds included), by who passes. */
struct quadrants {
    int both, first, second, neither;
};

struct quadrants quadrants_of(const struct result *first, const struct result *second, bool unseen);
int quadrants_common(const struct quadrants *q);

/* By what decides (published.h): how many pass of how many that were judged. */
struct passed {
    int pass, judged;
};
struct passed passed_of(const struct result *result, bool unseen);

#endif
