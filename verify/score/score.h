/* Scores and verdicts: pure functions of the judged configurations. */
#ifndef UNSEEN_SCORE_H
#define UNSEEN_SCORE_H

#include "reports/record/result.h"

/* Wilson's 95% score interval of the proportion pass/count. Not present if count is 0. */
struct interval score_wilson(int pass, int count);

/* Difference of two independent proportions, first - second, with the 95% Newcombe-Wilson interval. Not
 * present if either count is 0. */
struct interval score_difference(int first_pass, int first_count, int second_pass, int second_count);

/* The 97.5% quantile of Student's t distribution for any real degrees of freedom >= 1. */
double score_student_t(double df);

/* Degrees of freedom for a difference of two means with unequal variances (Welch-Satterthwaite). The
 * variances are those of the samples. Both counts must be at least 2, and one variance positive. */
double score_welch_df(double first_variance, int first_count, double second_variance, int second_count);

/* Geometric mean of positive values with the 95% t interval on their logarithms. */
struct interval score_geomean(const double *value, int count);

/* Ratio of two geometric means, numerator / denominator, with Welch's 95% interval on the logarithms. */
struct interval score_geomean_ratio(const double *numerator, int numerator_count, const double *denominator,
                                    int denominator_count);

/* Mean with its 95% t interval; `present` is false for fewer than two values. */
struct interval score_mean(const double *value, int count);

/* Median of ascending values with its 95% order-statistic interval. For fewer than 6 values no such interval
 * exists: low and high are the least and greatest value, and `present` is false. */
struct interval score_median(const double *ascending, int count);

/* The 95th percentile of ascending values, nearest rank; count at least 1. */
double score_p95(const double *ascending, int count);

/* Fills seen, unseen, drop and retention from results; the counts of both sets add up to result_count. */
void score_set(struct result *result);

/* The verdict by our own judgement, and by the published check alone. */
enum element_verdict verdict_decide(const struct result *result);
enum element_verdict verdict_decide_published(const struct result *result);

/* The verdict of a run that could not be completed: a candidate that cannot be loaded is broken; the verdict
 * is inconclusive if the machine is the cause. */
enum element_verdict verdict_decide_given_up(const struct result *result);

#endif
