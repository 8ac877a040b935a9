/* Is a kernel slower than another? Pure functions of times; doc/compare.md has the rule with its reasons. All ratios are
 * times, new / old, and intervals of them are on logarithms: 0.03 is 3% slower. */
#ifndef UNSEEN_COMPARE_H
#define UNSEEN_COMPARE_H

#include "reports/comparison.h"

double compare_margin(void); /* log(1 / 0.98), to either side */

/* The median of log(new / old) over pairs of times; false where there is none. */
bool compare_pairs(const double *old_ms, const double *new_ms, int count, double *log_ratio);

/* From log ratios of which each is of a process of its own: what a process is lucky with is in each of them, so that they are
 * what is independent, and not the pairs that one of them takes. Not present for none. */
struct shift compare_processes(const double *log_ratio, int count);

/* From two intervals, each of 95%, of medians of times that were not taken in pairs: the ratio is between the least and the
 * greatest quotient of their ends. Not present where either is not, or not positive. */
struct shift compare_medians(const struct interval *old_ms, const struct interval *new_ms);

/* The logarithms of a ratio with its interval. Not present where it is not, or not positive. */
struct interval compare_log(const struct interval *ratio);

/* From two 95% intervals of log ratios to one reference: new / reference of one day, old / reference of another. Its half-widths
 * are the roots of the summed squares of theirs, so that it is as unsure as both days together. */
struct shift compare_drift(const struct interval *new_log, const struct interval *old_log);

/* Holm's correction: adjusted[i] <= alpha rejects p[i], and of all true hypotheses, whatever they have to do with each other, one
 * or more is rejected with probability alpha at most. 0, or -1 without memory. */
int compare_holm(const double *p, int count, double *adjusted);

/* Decide all configurations of a comparison, of which those without an interval stay undecided: slower and faster by the
 * adjusted p against `alpha`, where the data is looked at `looks` times at most; same where the interval lies inside
 * the margins. 0, or -1 without memory. */
int compare_decide(struct shift *shift, int count, double alpha, int looks);

/* The mean of log ratios of several configurations, with its 95% t interval. Not present for none. */
struct interval compare_mean(const double *log_ratio, int count);

#endif
