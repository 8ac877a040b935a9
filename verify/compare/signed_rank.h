/* Wilcoxon's signed-rank test, and the matching estimate and interval of a centre. */
#ifndef UNSEEN_SIGNED_RANK_H
#define UNSEEN_SIGNED_RANK_H

#include "reports/record/result.h"

/* P(W <= w) for W the sum of the positive ranks of `count` differences with random signs; 0 for w < 0. Exact
 * up to 64 differences. Above, the normal distribution with a continuity correction (its tails are the longer
 * ones). */
double signed_rank_tail(int count, int64_t w);

/* One-sided p-value: the probability that differences with a centre at `margin` or below lie as far above it
 * as these. Averages equal to the margin count against. 1 for count 0. */
double signed_rank_above(const double *difference, int count, double margin);
double signed_rank_below(const double *difference, int count, double margin);

/* Hodges-Lehmann estimate: the median of all averages (d_i + d_j) / 2, i <= j, with the 1 - level interval
 * that inverts the test above. The interval is infinite for too few differences. Not present for count 0, or
 * when out of memory. */
struct interval signed_rank_centre(const double *difference, int count, double level);

#endif
