/* Moves of one configuration inside its contract. */
#ifndef UNSEEN_MOVE_H
#define UNSEEN_MOVE_H

#include "gen/contract/space.h"
#include "gen/random/pcg.h"

bool draw_in_constraints(const struct space *space, const struct config *config);

/* Moves one number axis other than `kept` (-1: any may move) to its nearest value that satisfies all
 * constraints, if `config` violates one. Returns the axis moved, `kept` if none had to be, or -2 if no single
 * move helps. Every value must be in its domain. */
enum { REPAIR_NONE = -1, REPAIR_FAILED = -2 };
int draw_repair(const struct space *space, struct config *config, int kept);
/* The same with several axes that stay, one bit each. Returns REPAIR_NONE if no axis had to move. */
int draw_repair_beside(const struct space *space, struct config *config, unsigned held);
/* Satisfies the constraints one after another, each by moving an axis that is not held. Returns false if some
 * constraint still fails; *config is then useless. */
bool draw_mend(const struct space *space, struct config *config, unsigned held);

/* Returns how far one axis must move, less than `reach`, for every constraint to hold, or 0 if it cannot.
 * *value is its new value. */
enum repair_way { REPAIR_EITHER, REPAIR_DOWN };
int64_t repair_distance(const struct space *space, const struct config *config, int axis, enum repair_way way,
                        int64_t reach, int64_t *value);
/* Returns whether the axis occurs in every constraint that fails. Otherwise moving it cannot help. */
bool repair_may_help(const struct space *space, const struct config *config, int axis);

/* Sets first choices and every number to its least, but nothing to empty; ignores constraints. */
void draw_least(const struct space *space, struct config *config);
int64_t domain_random(const struct domain *domain, struct pcg *stream); /* log-uniform, or one of a list */
/* the value, a prime near it, or one off a tile */
int64_t domain_decorate(const struct domain *domain, int64_t value, struct pcg *stream);
int64_t domain_next(const struct domain *domain, int64_t value, int sign); /* the value itself at the end */
int64_t domain_shrink(const struct domain *domain, int64_t value, struct pcg *stream);
bool domain_is_number(const struct space *space, int axis); /* a number axis with more than one value */

/* Draws an input class: with a quarter of the probability any except the published one, with another quarter
 * a sensitive one, else `usual`. */
int64_t draw_input(const struct space *space, int axis, int64_t usual, struct pcg *stream);

/* Returns the most sensitive class that the contract has; -1: it has none. */
int64_t draw_sharpest(const struct space *space);

/* Gives axes with the same list, such as height and width of a window, the value of the first. `held`: axes
 * that do not move, one bit each. */
void draw_square(const struct space *space, struct config *config, unsigned held);
bool draw_has_squares(const struct space *space);

/* Draws log-uniform numbers, with a preference for primes and values off the tiles, any choices, and a
 * seed. */
void draw_random_values(const struct space *space, struct config *config, struct pcg *stream);

/* Replaces every number by a small one, so that axes are often equal or at their least. */
void draw_small_values(const struct space *space, struct config *config, struct pcg *stream);

uint64_t draw_config_seed(struct pcg *stream); /* 31 bits: configuration lines stay short */

#endif
