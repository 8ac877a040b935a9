/* Rewards and scores, ours and published ones: pure functions of the judged and timed configurations.
 * doc/scores.md defines each one and names its source. */
#ifndef UNSEEN_SCORES_H
#define UNSEEN_SCORES_H

#include "reports/record/scores.h"
#include "reward_table.h"

/* --- the published formulas, as functions of numbers (reports/record/scores.c names sources and versions)
 * --- */

/* AgentKernelArena until 0.3: 0 if it does not compile, else 20. A correct kernel gets 100 more, and 100
 * times the speedup. A speedup of 0 or less means unknown. */
double scores_points(bool compiled, bool correct, double speedup);

/* AgentKernelArena from 0.4 on: max(0, 1 - 1.05/speedup) for a correct kernel, else 0. */
double scores_bounded(bool correct, double speedup);

/* KernelBench: the fraction of `total` that is correct with a speedup above p. `speedup` has the `count`
 * correct ones. */
double scores_fast(const double *speedup, int count, int total, double p);

/* KernelBench-Hard: exp(mean log max(fraction, 1e-9)); count at least 1. */
double scores_peak_fraction(const double *fraction, int count);

/* SOL-ExecBench: 1 / (1 + (T_k - T_SOL) / (T_b - T_SOL)). If the baseline is not above T_SOL: 1 for a kernel
 * at T_SOL or below, else 0. Milliseconds. */
double scores_sol(double kernel_ms, double baseline_ms, double sol_ms);

/* --- scores of a record --- */

/* Relative 95% half-width of the geometric mean of times, from the times' own intervals: sqrt(sum h^2)/count
 * over half-widths h of logarithms. Configurations that share one measurement count as one, with their total
 * weight. With `compared` it is that of the speedups, h^2 = h_kernel^2 + h_baseline^2. Infinity if a time has
 * no interval. */
double scores_spread(const struct result *result, bool unseen, bool compared);

/* Largest such half-width with which a score is reported. */
extern const double scores_spread_most;

/* Fills result->scores; call it after score_set and the verdict. `table` may be NULL. */
void scores_fill(struct result *result, const struct reward_table *table);

/* The score of a candidate that does not compile (REWARD_COMPILE) or cannot be loaded (REWARD_LOAD), so
 * nothing was run. */
struct score_value scores_unusable(enum score_name name, const struct reward_table *table,
                                   enum reward_event event);

/* The same score as a reward; call it after scores_fill. A failure in either set removes all rewards for
 * speed: a candidate that fails anywhere gets no more than the slowest one that passes everywhere. */
struct score_value scores_reward(const struct result *result, bool unseen, enum score_name name,
                                 const struct reward_table *table);

#endif
