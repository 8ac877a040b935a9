/* An exact search for a configuration of the contract within bounds, as far as the constraints permit. */
#ifndef UNSEEN_FEASIBLE_H
#define UNSEEN_FEASIBLE_H

#include "gen/contract/space.h"

enum feasibility {
    FEASIBLE,        /* *config is such a configuration, with small other numbers */
    INFEASIBLE,      /* proved that there is none */
    FEASIBILITY_OPEN /* not decided within FEASIBLE_MOST_BOXES boxes */
};
enum { FEASIBLE_MOST_BOXES = 4096 };

/* Number axis i may take the values low[i]..high[i] of its domain; low[i] <= high[i] is required. Choices
 * stay as in *config. */
enum feasibility feasible_find(const struct space *space, const int64_t *low, const int64_t *high,
                               struct config *config);

#endif
