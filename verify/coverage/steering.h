/* Draws configurations that take branches which no other configuration takes. */
#ifndef UNSEEN_STEERING_H
#define UNSEEN_STEERING_H

#include "branch_coverage_internal.h"
#include "gen/draw/clue.h"

struct steering;

/* NULL: memory is out. At most `most` configurations are added to the task's unseen set. */
struct steering *steering_open(struct covering_calls *calls, int most);
void steering_close(struct steering *steering);

/* Records the operands of comparisons in the last call. `clue`: what this configuration was drawn for, or
 * NULL. */
void steering_observe(struct steering *steering, const struct tracing *tracing, const struct config *config,
                      const struct clue *clue);

/* Rounds of calls until nothing new is reached or `limit` is used up. Returns 0; -1 when memory is out. */
int steering_run(struct steering *steering, double limit);

#endif
