/* What configurations cost, and whether the machine allows it. */
#ifndef UNSEEN_COST_H
#define UNSEEN_COST_H

#include "draw.h"

/* What is spent, allowed or left. A cap of HUGE_COST is none. */
#define HUGE_COST 1e300
struct cost {
    double bytes, flops;
};
bool cost_fits(const struct cost *cost, const struct cost *allowed);

/* Who asks for many configurations keeps one of these. */
struct costing {
    const struct space *space;
    struct cost cap;         /* of one configuration */
    struct config last_dear; /* last found above dear_cost: whatever exceeds it is, too */
    struct cost dear_cost;
    bool no_memory; /* for a small instance, so that what is too dear cannot be told */
};
struct costing costing_of(const struct space *space, const struct draw_caps *caps); /* NULL: no caps */

/* What `config` costs, found without making an instance far above what is allowed (draw_cost: the caps
 * of one configuration); false: above it. */
bool draw_cost_within(struct costing *costing, const struct config *config, const struct cost *allowed,
                      struct cost *cost);
bool draw_cost(struct costing *costing, const struct config *config, struct cost *cost);
/* config_measure; false: it is too large for this machine's memory, whatever the caps say, or no_memory. */
bool costing_measure(struct costing *costing, const struct config *config, struct instance *instance);
bool costing_has_caps(const struct costing *costing);

/* Elements of the box that the ranges of a configuration span: no table that a problem makes for an
 * instance is longer. Lists (head_dim, page_size) are small and left out. */
double draw_box_size(const struct space *space, const struct config *config);

#endif
