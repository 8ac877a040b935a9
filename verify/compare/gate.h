/* The gate of a comparison: pure functions of the record. */
#ifndef UNSEEN_GATE_H
#define UNSEEN_GATE_H

#include "reports/record/comparison.h"

/* Probability that a comparison of a kernel with itself finds a difference by chance. */
extern const double gate_alpha;

/* Fills `overall` and `set` from the ratios of single configurations. */
void gate_over_configurations(struct comparison *comparison);

/* Decides the times of all items and of all together (`overall`), with at most `looks` looks at the data.
 * Returns 0, or -1 when out of memory. */
int gate_decide(struct comparison *comparison, int looks);

/* The least number of processes with which gate_decide can decide that many hypotheses, if each process
 * agrees. */
int gate_least_processes(int hypotheses, int looks);

/* Is there evidence of cheating by the new candidate of a kind that the old one does not show? */
void gate_find_cheating(const struct result *old, const struct result *new, struct comparison *comparison);

/* Fills in correctness, counts and the gate itself. */
void gate_close(struct comparison *comparison);

#endif
