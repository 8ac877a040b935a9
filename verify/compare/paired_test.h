/* Is a kernel slower than another? Pure functions of times; doc/compare.md has the rule and its reasons. All
 * ratios are times, new / old; their intervals are on logarithms: 0.03 is 3% slower. */
#ifndef UNSEEN_PAIRED_TEST_H
#define UNSEEN_PAIRED_TEST_H

#include "reports/record/comparison.h"

double compare_margin(void); /* log(1 / 0.98), on either side */

/* The median of log(new / old) over pairs of times; false if there are none. */
bool compare_pairs(const double *old_ms, const double *new_ms, int count, double *log_ratio);

/* Estimates the ratio from one log ratio per process. A process has a common bias, so processes are
 * independent, not the pairs of times within them. Not present for count 0. */
struct shift compare_processes(const double *log_ratio, int count);

/* Estimates the ratio from 95% intervals of two medians whose times were not paired. The ratio is between the
 * least and the greatest quotient of their ends. Not present if either interval is not, or is not
 * positive. */
struct shift compare_medians(const struct interval *old_ms, const struct interval *new_ms);

/* The logarithm of a ratio with its interval. Not present if the interval is not, or is not positive. */
struct interval compare_log(const struct interval *ratio);

/* Compares two days by 95% intervals of log ratios to one reference: new / reference and old / reference. The
 * half-width is the root of the sum of squares, so the result is as uncertain as both days together. */
struct shift compare_drift(const struct interval *new_log, const struct interval *old_log);

/* Holm's correction: rejecting p[i] if adjusted[i] <= alpha rejects one or more true hypotheses with
 * probability at most alpha, for any dependence between them. Returns 0, or -1 when out of memory. */
int compare_holm(const double *p, int count, double *adjusted);

/* Decides all configurations of a comparison; those without an interval stay undecided. Slower and faster: by
 * the adjusted p against `alpha`, with at most `looks` looks at the data. Same: the interval lies within the
 * margins. Returns 0, or -1 when out of memory. */
int compare_decide(struct shift *shift, int count, double alpha, int looks);

/* The mean log ratio of several configurations with its 95% t interval. Not present for count 0. */
struct interval compare_mean(const double *log_ratio, int count);

#endif
