/* How one configuration is moved about inside its contract. */
#ifndef UNSEEN_MOVE_H
#define UNSEEN_MOVE_H

#include "gen/contract/space.h"
#include "gen/random/pcg.h"

bool draw_in_constraints(const struct space *space, const struct config *config);

/* When constraints that couple axes forbid `config`, moves one number axis other than `kept` (-1: none is)
 * to its nearest value that satisfies them all. Returns the axis moved, `kept` when none had to be, or
 * -2 when no single move helps. Every value must be in its domain. */
enum { REPAIR_NONE = -1, REPAIR_FAILED = -2 };
int draw_repair(const struct space *space, struct config *config, int kept);
/* The same with several axes that stay, a bit each; REPAIR_NONE when none had to move. */
int draw_repair_beside(const struct space *space, struct config *config, unsigned held);
/* One constraint after the other, each by one axis that is not held. False: some still fails, and *config is of no use. */
bool draw_mend(const struct space *space, struct config *config, unsigned held);

/* The same for one axis: how far it must move, less than `reach`, for every constraint to hold; 0: it cannot. *value is
 * where to. */
enum repair_way { REPAIR_EITHER, REPAIR_DOWN };
int64_t repair_distance(const struct space *space, const struct config *config, int axis, enum repair_way way,
                        int64_t reach, int64_t *value);
/* Whether the axis has a say in every constraint that fails: moving any other is in vain. */
bool repair_may_help(const struct space *space, const struct config *config, int axis);

/* First choices, every number at its least but nothing empty, no constraints. */
void draw_least(const struct space *space, struct config *config);
int64_t domain_random(const struct domain *domain, struct pcg *stream); /* log-uniform, or one of a list */
int64_t domain_decorate(const struct domain *domain, int64_t value, struct pcg *stream); /* prime, off-tile */
int64_t domain_next(const struct domain *domain, int64_t value, int sign); /* itself at the end */
int64_t domain_shrink(const struct domain *domain, int64_t value, struct pcg *stream);
bool domain_is_number(const struct space *space, int axis); /* a number axis with more than one value */

/* One of the input classes: a quarter of the time any but the published one, another quarter one of the
 * discriminating ones, else `usual`. */
int64_t draw_input(const struct space *space, int axis, int64_t usual, struct pcg *stream);

/* The sharpest of the discriminating classes that the contract has; -1: none. */
int64_t draw_sharpest(const struct space *space);

/* Log-uniform numbers, primes and values off the tiles favoured; any choices; a seed. */
/* Axes with the same list, such as the height and the width of a window, take the value of the first. `held`: axes that do not
 * move, a bit each. */
void draw_square(const struct space *space, struct config *config, unsigned held);
bool draw_has_squares(const struct space *space);
void draw_random_values(const struct space *space, struct config *config, struct pcg *stream);

uint64_t draw_config_seed(struct pcg *stream); /* 31 bits: configuration lines stay short */

#endif
