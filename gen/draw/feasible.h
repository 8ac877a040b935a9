/* Does a contract hold any configuration with these values? An exact search, where the constraints let it be one. */
#ifndef UNSEEN_FEASIBLE_H
#define UNSEEN_FEASIBLE_H

#include "gen/contract/space.h"

enum feasibility {
    FEASIBLE,        /* *config is one, its other numbers small */
    INFEASIBLE,      /* proved: there is none */
    FEASIBILITY_OPEN /* not decided within FEASIBLE_MOST_BOXES boxes */
};
enum { FEASIBLE_MOST_BOXES = 4096 };

/* Number axis i may take the values low[i]..high[i] of its domain, where low[i] <= high[i]; choices stay as *config has them. */
enum feasibility feasible_find(const struct space *space, const int64_t *low, const int64_t *high,
                               struct config *config);

#endif
