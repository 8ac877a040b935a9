/* Several candidates on the same configurations. */
#ifndef UNSEEN_QUADRANTS_H
#define UNSEEN_QUADRANTS_H

#include "result.h"

/* Configurations of one set that both runs judged (equal lines, seeds included), by which run passes. */
struct quadrants {
    int both, first, second, neither;
};

struct quadrants quadrants_of(const struct result *first, const struct result *second, bool unseen);
int quadrants_common(const struct quadrants *q);

/* Number of passed and of judged configurations, by the deciding check (published.h). */
struct passed {
    int pass, judged;
};
struct passed passed_of(const struct result *result, bool unseen);

#endif
