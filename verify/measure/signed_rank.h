/* Wilcoxon's signed ranks, and the estimate and interval of a centre that belong to them. */
#ifndef UNSEEN_SIGNED_RANK_H
#define UNSEEN_SIGNED_RANK_H

#include "reports/result.h"

/* P(W <= w) for W the sum of the positive ranks of `count` differences whose signs are fair coins; 0 below w = 0. Exact up to
 * 64 differences, above by the normal distribution with a correction for continuity (its tails are the longer ones). */
double signed_rank_tail(int count, int64_t w);

/* One-sided: the probability that differences with their centre at `margin`, or below it, lie as far above it as these do.
 * Averages that equal the margin count against. 1 for none. */
double signed_rank_above(const double *difference, int count, double margin);
double signed_rank_below(const double *difference, int count, double margin);

/* Hodges-Lehmann: the median of all averages (d_i + d_j) / 2, i <= j; with the interval of 1 - level that inverts the
 * test above. Too few differences for one: -infinity and infinity. Not present for none, or where memory is out. */
struct interval signed_rank_centre(const double *difference, int count, double level);

#endif
