/* The cost of configurations, and whether the machine allows it. */
#ifndef UNSEEN_COST_H
#define UNSEEN_COST_H

#include "draw.h"

/* An amount of memory and work: spent, allowed or left. A cap of HUGE_COST means no cap. */
#define HUGE_COST 1e300
struct cost {
    double bytes, flops;
};
bool cost_fits(const struct cost *cost, const struct cost *allowed);

/* The state of a caller that asks for the cost of many configurations. */
struct costing {
    const struct space *space;
    struct cost cap;         /* most that one configuration may cost */
    struct config last_dear; /* last one found to exceed dear_cost; every larger one exceeds it, too */
    struct cost dear_cost;
    bool no_memory; /* memory ran out for a small instance, so no cost can be determined */
};
/* caps may be NULL: none */
struct costing costing_of(const struct space *space, const struct draw_caps *caps);

/* Computes the cost of `config` without making an instance far above the allowance. Returns false if the cost
 * exceeds it. draw_cost compares with the caps of one configuration. */
bool draw_cost_within(struct costing *costing, const struct config *config, const struct cost *allowed,
                      struct cost *cost);
bool draw_cost(struct costing *costing, const struct config *config, struct cost *cost);
/* Calls config_measure. Returns false if the instance is too large for this machine's memory, whatever the
 * caps say, or after costing->no_memory is set. */
bool costing_measure(struct costing *costing, const struct config *config, struct instance *instance);
bool costing_has_caps(const struct costing *costing);

/* Returns the product of the configuration's ranges: the number of elements of the box that they span. No
 * table that a problem makes for an instance is longer. Lists (head_dim, page_size) are small and left
 * out. */
double draw_box_size(const struct space *space, const struct config *config);

#endif
