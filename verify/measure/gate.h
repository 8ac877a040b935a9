/* What a comparison comes to, from what is known of its configurations: pure functions of the record. */
#ifndef UNSEEN_GATE_H
#define UNSEEN_GATE_H

#include "reports/comparison.h"

/* One in so many comparisons of a kernel with itself may say by chance that something is slower or faster. */
extern const double gate_alpha;

/* Fill `overall` and `set` from the ratios of single configurations. */
void gate_over_configurations(struct comparison *comparison);

/* Decide the times of all items, and of all together (`overall`), where data is looked at `looks` times at most. 0, or -1
 * without memory. */
int gate_decide(struct comparison *comparison, int looks);

/* The fewest processes by which so many hypotheses, all of which hold in every one of them, are decided by gate_decide. */
int gate_least_processes(int hypotheses, int looks);

/* Is there evidence of cheating, of a kind of which the old one gives none? */
void gate_find_cheating(const struct result *old, const struct result *new, struct comparison *comparison);

/* Correctness, counts and the gate itself. */
void gate_close(struct comparison *comparison);

#endif
