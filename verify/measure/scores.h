/* Rewards and scores, ours and those that others publish: pure functions of the judged and timed configurations. What each
 * one means, and whose it is, is in doc/scores.md. */
#ifndef UNSEEN_SCORES_H
#define UNSEEN_SCORES_H

#include "reports/scores.h"
#include "reward_table.h"

/* --- the published formulas, of numbers alone (reports/scores.c names sources and versions) --- */

/* AgentKernelArena until 0.3: 0 where it does not compile; 20; and, where it is right, 100 more and 100 times the speedup.
 * A speedup of 0 or less stands for one that is not known. */
double scores_points(bool compiled, bool correct, double speedup);

/* AgentKernelArena from 0.4 on: max(0, 1 - 1.05/speedup) of a right kernel, else 0. */
double scores_bounded(bool correct, double speedup);

/* KernelBench: of `total`, the share that is right and whose speedup is above p. `speedup`: of the `count` right ones. */
double scores_fast(const double *speedup, int count, int total, double p);

/* KernelBench-Hard: exp(mean log max(fraction, 1e-9)); count at least 1. */
double scores_peak_fraction(const double *fraction, int count);

/* SOL-ExecBench: 1 / (1 + (T_k - T_SOL) / (T_b - T_SOL)); where the baseline is not above T_SOL, 1 for a kernel that is
 * at T_SOL or below, else 0. Milliseconds. */
double scores_sol(double kernel_ms, double baseline_ms, double sol_ms);

/* --- of a record --- */

/* The 95% half-width, relative, that the times' own intervals leave of their geometric mean: sqrt(sum h^2)/count over
 * half-widths h of logarithms. Configurations that share one measurement are one, with that weight. With `compared` of the
 * speedups, h^2 = h_kernel^2 + h_baseline^2. Infinity where a time has no interval. */
double scores_spread(const struct result *result, bool unseen, bool compared);

/* Such a spread at most: what a score is allowed to owe to noise. */
extern const double scores_spread_most;

/* Fill result->scores; after score_set and the verdict. `table` may be NULL. */
void scores_fill(struct result *result, const struct reward_table *table);

/* The score of a candidate that does not compile (REWARD_COMPILE) or cannot be loaded (REWARD_LOAD): nothing of it was run. */
struct score_value scores_unusable(enum score_name name, const struct reward_table *table,
                                   enum reward_event event);

/* The same score as a reward; after scores_fill. A failure in either set takes away what is made of speed: nobody who fails
 * somewhere is worth more than the slowest who passes everywhere. */
struct score_value scores_reward(const struct result *result, bool unseen, enum score_name name,
                                 const struct reward_table *table);

#endif
