/* Rewards and published scores against values worked out by hand; the terms that never leave a denominator;
 * when there is no number. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scores_record.h"
#include "suites.h"
#include "verify/score/score.h"
#include "verify/score/scores.h"

/* --- formulas --- */

/* AgentKernelArena, docs/reference/api-reference.md: compiles 20, right 100, and 1.58 times as fast 158:
 * 20 + 100 + 158 = 278. Its score.py adds nothing where the ratio is 0, its mark for an unknown one. */
START_TEST(points_are_those_of_the_published_example)
{
    ck_assert_double_eq(scores_points(false, false, 9), 0);
    ck_assert_double_eq(scores_points(true, false, 9), 20);
    ck_assert_double_eq_tol(scores_points(true, true, 1.58), 278, 1e-12);
    ck_assert_double_eq(scores_points(true, true, 0), 120);
    ck_assert_double_eq(scores_points(true, true, 0.5), 170);
}
END_TEST

/* 1 - 1.05/2.1 = 1 - 1/2; 1 - 1.05/4.2 = 1 - 1/4; at 1.05 and below nothing, as the release notes say. */
START_TEST(the_bounded_reward_starts_at_five_percent)
{
    ck_assert_double_eq_tol(scores_bounded(true, 2.1), 0.5, 1e-15);
    ck_assert_double_eq_tol(scores_bounded(true, 4.2), 0.75, 1e-15);
    ck_assert_double_eq(scores_bounded(true, 1.05), 0);
    ck_assert_double_eq(scores_bounded(true, 1), 0);
    ck_assert_double_eq(scores_bounded(true, 0.01), 0);
    ck_assert_double_eq(scores_bounded(false, 100), 0);
    ck_assert_double_lt(scores_bounded(true, 1e12), 1);
}
END_TEST

/* Five tasks, four right, of speedups 0.5, 0.8, 1 and 2.5. Above 0: all four of five; above 0.5: 0.8, 1, 2.5,
 * three; above 0.8: two; above 1, 1.5 and 2: one. Strictly above: a speedup of p does not count. */
START_TEST(fast_p_counts_what_is_strictly_above_p)
{
    static const double speedup[] = {0.5, 0.8, 1, 2.5};
    static const struct {
        double p, share;
    } table[] = {{0, 0.8}, {0.5, 0.6}, {0.8, 0.4}, {1, 0.2}, {1.5, 0.2}, {2, 0.2}, {2.5, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_double_eq_tol(scores_fast(speedup, 4, 5, table[i].p), table[i].share, 1e-15);
    ck_assert_double_eq(scores_fast(NULL, 0, 5, 0), 0);
}
END_TEST

/* exp((log 1/2 + log 1/8)/2) = sqrt(1/16) = 1/4; a fraction of 0 counts as 1e-9: sqrt(1e-9 x 1e-1) = 1e-5. */
START_TEST(the_peak_fraction_is_a_geometric_mean_with_a_floor)
{
    ck_assert_double_eq_tol(scores_peak_fraction((const double[]){0.5, 0.125}, 2), 0.25, 1e-15);
    ck_assert_double_eq_tol(scores_peak_fraction((const double[]){0, 0.1}, 2), 1e-5, 1e-18);
}
END_TEST

/* sol_score.py: 1/2 at the baseline's time, 1 at T_SOL. T_b = 3, T_SOL = 1: T_k = 2 gives 1/(1 + 1/2) = 2/3,
 * T_k = 5 gives 1/(1 + 4/2) = 1/3. Without a gap, T_b = T_SOL: 1 at T_SOL, else 0. */
START_TEST(the_sol_score_is_a_half_at_the_baseline)
{
    ck_assert_double_eq(scores_sol(3, 3, 1), 0.5);
    ck_assert_double_eq(scores_sol(1, 3, 1), 1);
    ck_assert_double_eq_tol(scores_sol(2, 3, 1), 2.0 / 3, 1e-15);
    ck_assert_double_eq_tol(scores_sol(5, 3, 1), 1.0 / 3, 1e-15);
    ck_assert_double_eq(scores_sol(1, 1, 1), 1);
    ck_assert_double_eq(scores_sol(2, 1, 1), 0);
    ck_assert_double_eq(scores_sol(2, 0.5, 1), 0);
}
END_TEST

/* --- a record --- */

static void expect_none(enum score_name name, enum score_state state, const char *reason)
{
    const struct score_value *const score = unseen_score(name);
    ck_assert_msg(score->state == state, "%s is %s: %s", score_traits(name)->name,
                  score_state_name(score->state), score->reason);
    ck_assert_msg(strstr(score->reason, reason) != NULL, "%s: %s", score_traits(name)->name, score->reason);
}

/* All right. Points: 120 + 100 (2 + 4)/2 = 420. Bounded: 1 - 1.05/3 = 0.65. SOL: T_k = 2, T_b = 4:
 * 1/(1 + 1/3) = 3/4; T_b = 8: 1/(1 + 1/7) = 7/8; mean 13/16. Peak fraction: 1e9 flops in 2 ms are 0.5 TFLOP/s
 * of 1. Ours: 1 x 1/4. */
START_TEST(a_set_that_passes_has_the_scores_worked_out_by_hand)
{
    fill_record();
    fill_scores(NULL);
    const struct score_value *const seen = record.scores.seen;
    expect_score(&seen[SCORE_OURS], 0.25);
    expect_score(&seen[SCORE_PASS_RATE], 1);
    expect_score(&seen[SCORE_AKA_POINTS], 420);
    expect_score(&seen[SCORE_AKA_BOUNDED], 0.65);
    expect_score(&seen[SCORE_CONDITIONAL], 1);
    expect_score(&seen[SCORE_FAST_15], 1);
    expect_score(&seen[SCORE_FAST_2], 0.5);
    expect_score(&seen[SCORE_PEAK_FRACTION], 0.5);
    expect_score(&seen[SCORE_SOL], 13.0 / 16);
    ck_assert_int_eq(seen[SCORE_TABLE].state, SCORE_NONE);
    ck_assert_int_eq(record.scores.seen_quadrants.both, 2);
}
END_TEST

/* Six configurations, two pass. Ours: 2/6 x 1/4. fast_1: one of six. SOL: T_k = 3, T_b = 6: 1/(1 + 2/5) =
 * 5/7; T_k = 4, T_b = 2: 1/(1 + 3/1) = 1/4; (5/7 + 1/4)/6. The baseline passes on three that ran. Nothing is
 * known of the three that did not run, which counts against a candidate that does not pass there: 2/(2 + 1 +
 * 3). */
START_TEST(what_fails_or_never_ran_stays_in_every_denominator)
{
    fill_record();
    fill_scores(NULL);
    expect_score(unseen_score(SCORE_OURS), 2.0 / 6 / 4);
    expect_score(unseen_score(SCORE_PASS_RATE), 2.0 / 6);
    expect_score(unseen_score(SCORE_AKA_POINTS), 20);
    expect_score(unseen_score(SCORE_AKA_BOUNDED), 0);
    expect_score(unseen_score(SCORE_CONDITIONAL), 2.0 / 6);
    expect_score(unseen_score(SCORE_FAST_0), 2.0 / 6);
    expect_score(unseen_score(SCORE_FAST_1), 1.0 / 6);
    expect_score(unseen_score(SCORE_PEAK_FRACTION), 0);
    expect_score(unseen_score(SCORE_SOL), (5.0 / 7 + 0.25) / 6);
    const struct score_quadrants q = record.scores.unseen_quadrants;
    ck_assert_int_eq(q.both, 2);
    ck_assert_int_eq(q.regression, 1);
    ck_assert_int_eq(q.unknown, 3);
    ck_assert_int_eq(q.improvement + q.neither, 0);
}
END_TEST

/* A passing scout counts only where passing alone counts, and in no score made of times. A failing scout
 * counts like any other failure. Beside the six above there are four scouts, of which three pass: 5 of 10
 * pass, 7 could have a time. */
START_TEST(scouts_that_pass_are_in_no_score_of_speed)
{
    static struct config_result more[CONFIGS + 4];
    fill_record();
    memcpy(more, configs, sizeof configs);
    for (int i = CONFIGS; i < CONFIGS + 4; i++)
        more[i] = (struct config_result){.unseen = true, .scout = true, .baseline_judged = true};
    more[CONFIGS].outcome = OUTCOME_WRONG;
    record.results = more;
    record.result_count += 4;
    record.planned += 4;
    fill_scores(NULL);
    expect_score(unseen_score(SCORE_PASS_RATE), 5.0 / 10);
    expect_score(unseen_score(SCORE_FAST_0), 5.0 / 10);
    expect_score(unseen_score(SCORE_OURS), 5.0 / 10 / 4);
    ck_assert_double_eq_tol(record.unseen.score, 5.0 / 7 / 4, 1e-12); /* for the seven that ran */
    expect_score(unseen_score(SCORE_CONDITIONAL), 5.0 / 10);
    expect_score(unseen_score(SCORE_FAST_1), 1.0 / 7);
    expect_score(unseen_score(SCORE_SOL), (5.0 / 7 + 0.25) / 7);
    const struct score_quadrants q = record.scores.unseen_quadrants;
    ck_assert_int_eq(q.both, 5);
    ck_assert_int_eq(q.both + q.regression + q.improvement + q.neither + q.unknown, 10);
    expect_score(unseen_score(SCORE_AKA_POINTS), 20);
}
END_TEST

/* A kernel that fails on a scout alone has no points for speed. One that passes on scouts alone has no
 * score. */
START_TEST(a_scout_that_fails_counts_like_any_other)
{
    fill_record();
    record.planned = CONFIGS;
    configs[4].outcome = OUTCOME_PASS;
    configs[4].scout = true;
    fill_scores(NULL);
    expect_score(unseen_score(SCORE_AKA_POINTS), 245);
    expect_score(unseen_score(SCORE_PASS_RATE), 1);
    configs[4].outcome = OUTCOME_WRONG;
    fill_scores(NULL);
    expect_score(unseen_score(SCORE_AKA_POINTS), 20);
    expect_score(unseen_score(SCORE_PASS_RATE), 2.0 / 3);
    configs[2].outcome = configs[3].outcome = OUTCOME_WRONG;
    configs[4].outcome = OUTCOME_PASS;
    fill_scores(NULL);
    expect_score(unseen_score(SCORE_PASS_RATE), 1.0 / 3);
    expect_score(unseen_score(SCORE_OURS), 0);
    expect_score(unseen_score(SCORE_FAST_1), 0);
}
END_TEST

/* The shares do not depend on the kind of failure. */
START_TEST(no_outcome_but_pass_is_worth_more_than_another)
{
    for (int outcome = OUTCOME_WRONG; outcome < OUTCOME_COUNT; outcome++) {
        fill_record();
        configs[4].outcome = (enum outcome)outcome;
        configs[4].reason.cause = CAUSE_PATIENCE;
        fill_scores(NULL);
        expect_score(unseen_score(SCORE_PASS_RATE), 2.0 / 6);
        expect_score(unseen_score(SCORE_OURS), 2.0 / 6 / 4);
        expect_score(unseen_score(SCORE_FAST_1), 1.0 / 6);
        expect_score(unseen_score(SCORE_CONDITIONAL), 2.0 / 6);
    }
}
END_TEST

START_TEST(equal_measurements_give_equal_numbers)
{
    static struct result_scores first;
    fill_record();
    fill_scores(NULL);
    first = record.scores;
    const struct config_result swapped = configs[2];
    configs[2] = configs[4];
    configs[4] = swapped;
    fill_scores(NULL);
    for (int i = 0; i < SCORE_NAMES; i++) {
        ck_assert_int_eq(record.scores.unseen[i].state, first.unseen[i].state);
        ck_assert_double_eq_tol(record.scores.unseen[i].value, first.unseen[i].value, 1e-15);
    }
}
END_TEST

START_TEST(without_a_baseline_what_compares_has_a_reason_and_no_number)
{
    fill_record();
    record.baseline.path[0] = '\0';
    for (int i = 0; i < CONFIGS; i++) {
        configs[i].baseline_judged = false;
        configs[i].timing.baseline_ms = 0;
    }
    fill_scores(NULL);
    for (int i = 0; i < SCORE_NAMES; i++)
        if (score_traits((enum score_name)i)->compares) {
            ck_assert_int_eq(record.scores.seen[i].state, SCORE_NONE);
            ck_assert_ptr_nonnull(strstr(record.scores.seen[i].reason, "no baseline"));
        }
    expect_score(unseen_score(SCORE_OURS), 2.0 / 6 / 4);
}
END_TEST

/* A right kernel beside a baseline that fails: speed has nothing to compare with there; the published points
 * add none. */
START_TEST(a_baseline_that_fails_gives_no_speedup)
{
    fill_record();
    configs[1].baseline_outcome = OUTCOME_WRONG;
    fill_scores(NULL);
    expect_score(&record.scores.seen[SCORE_AKA_POINTS], 120);
    ck_assert_int_eq(record.scores.seen[SCORE_AKA_BOUNDED].state, SCORE_NONE);
    ck_assert_int_eq(record.scores.seen[SCORE_SOL].state, SCORE_NONE);
    expect_score(&record.scores.seen[SCORE_FAST_1], 0.5);
    expect_score(&record.scores.seen[SCORE_CONDITIONAL], 1);
    ck_assert_int_eq(record.scores.seen_quadrants.improvement, 1);
}
END_TEST

START_TEST(a_cheat_earns_what_a_wrong_kernel_does)
{
    fill_record();
    record.verdict = VERDICT_CHEATING;
    fill_scores(NULL);
    expect_score(&record.scores.seen[SCORE_OURS], 0);
    expect_score(&record.scores.seen[SCORE_AKA_POINTS], 20);
    expect_score(&record.scores.seen[SCORE_AKA_BOUNDED], 0);
    expect_score(&record.scores.seen[SCORE_FAST_0], 0);
    expect_score(&record.scores.seen[SCORE_FAST_2], 0);
    expect_score(&record.scores.seen[SCORE_SOL], 0);
    expect_score(&record.scores.seen[SCORE_CONDITIONAL], 0);
}
END_TEST

/* --- when there is no number --- */

START_TEST(disturbed_times_give_no_number_and_leave_correctness)
{
    fill_record();
    configs[3].timing.disturbed = true;
    fill_scores(NULL);
    expect_none(SCORE_OURS, SCORE_INCONCLUSIVE, "1 of 2 times");
    expect_none(SCORE_SOL, SCORE_INCONCLUSIVE, "1 of 2 times");
    expect_none(SCORE_FAST_1, SCORE_INCONCLUSIVE, "1 of 2 times");
    expect_score(unseen_score(SCORE_PASS_RATE), 2.0 / 6);
    expect_score(unseen_score(SCORE_FAST_0), 2.0 / 6);
    expect_score(unseen_score(SCORE_AKA_POINTS), 20); /* one is wrong, however long the other configurations
                                                       * took */
    expect_score(&record.scores.seen[SCORE_OURS], 0.25);
}
END_TEST

static void widen(struct timing *timing, double half_width)
{
    timing->low_ms = timing->median_ms * exp(-half_width);
    timing->high_ms = timing->median_ms * exp(half_width);
    timing->baseline_ratio.low = timing->baseline_ratio.value * exp(-half_width);
    timing->baseline_ratio.high = timing->baseline_ratio.value * exp(half_width);
}

/* Two times, of which one is open by 3%: sqrt(0.03^2 + 0^2)/2 = 1.5%. Both: sqrt(2 x 0.03^2)/2 = 2.12%. Had
 * both come from one measurement, 3%. */
START_TEST(the_spread_of_a_mean_is_that_worked_out_by_hand)
{
    fill_record();
    widen(&configs[2].timing, 0.03);
    ck_assert_double_eq_tol(scores_spread(&record, true, false), 0.015, 1e-12);
    widen(&configs[3].timing, 0.03);
    ck_assert_double_eq_tol(scores_spread(&record, true, false), 0.03 / sqrt(2), 1e-12);
    configs[3].timing = configs[2].timing;
    ck_assert_double_eq_tol(scores_spread(&record, true, false), 0.03, 1e-12);
    configs[2].timing.samples = configs[3].timing.samples = 5; /* five values have no 95% interval */
    ck_assert(isinf(scores_spread(&record, true, false)));
}
END_TEST

START_TEST(times_that_leave_their_mean_open_give_no_number)
{
    fill_record();
    widen(&configs[2].timing, 0.03);
    fill_scores(NULL);
    ck_assert_int_eq(unseen_score(SCORE_OURS)->state, SCORE_VALUE);
    widen(&configs[2].timing, 0.05); /* 2.5% */
    fill_scores(NULL);
    expect_none(SCORE_OURS, SCORE_INCONCLUSIVE, "2.5%, above 2%");
    expect_score(unseen_score(SCORE_PASS_RATE), 2.0 / 6);
    expect_score(unseen_score(SCORE_FAST_1), 1.0 / 6); /* 2 and 1/2 are far from 1 */
    widen(&configs[2].timing, 0.8);                    /* from 0.9 to 4.5 times the baseline's speed */
    fill_scores(NULL);
    expect_none(SCORE_FAST_1, SCORE_INCONCLUSIVE, "1 of 6");
    configs[2].timing.samples = 3;
    fill_scores(NULL);
    expect_none(SCORE_OURS, SCORE_INCONCLUSIVE, "too few samples");
}
END_TEST

START_TEST(a_run_that_was_cut_off_or_takes_no_times_gives_no_number)
{
    fill_record();
    record.partial = true;
    strcpy(record.partial_reason, "interrupted");
    fill_scores(NULL);
    for (int i = 0; i < SCORE_NAMES; i++) /* without a table there is none, however the run ends */
        ck_assert_int_eq(record.scores.seen[i].state, i == SCORE_TABLE ? SCORE_NONE : SCORE_INCONCLUSIVE);
    expect_none(SCORE_OURS, SCORE_INCONCLUSIVE, "interrupted");
    expect_none(SCORE_PASS_RATE, SCORE_INCONCLUSIVE, "interrupted");
    expect_score(unseen_score(SCORE_AKA_POINTS), 20); /* one is wrong, whatever was left out */
    fill_record();
    for (int i = 0; i < CONFIGS; i++)
        configs[i].timing.present = false;
    fill_scores(NULL);
    expect_none(SCORE_OURS, SCORE_INCONCLUSIVE, "no times"); /* they were asked for */
    record.no_timing = true;
    fill_scores(NULL);
    expect_none(SCORE_OURS, SCORE_NONE, "no times");
    expect_none(SCORE_AKA_POINTS, SCORE_NONE, "no times"); /* for a wrong one, too: equal for all */
    expect_score(unseen_score(SCORE_PASS_RATE), 2.0 / 6);
}
END_TEST

/* The candidate's own failure leaves the rest out, so the rest counts as not passing. */
START_TEST(what_fail_fast_leaves_out_does_not_pass)
{
    fill_record();
    record.planned = 6;
    record.result_count = 4;
    configs[2].outcome = OUTCOME_WRONG;
    configs[3].outcome = OUTCOME_SKIPPED;
    configs[3].reason.cause = CAUSE_FAIL_FAST;
    fill_scores(NULL);
    expect_score(unseen_score(SCORE_PASS_RATE), 0);
    ck_assert_str_eq(unseen_score(SCORE_PASS_RATE)->reason,
                     "0 of 4 unseen configurations pass; --fail-fast left out 1");
    expect_score(unseen_score(SCORE_AKA_POINTS), 20);
}
END_TEST

START_TEST(a_time_that_the_hardware_does_not_permit_gives_no_number)
{
    struct finding finding = {.kind = FINDING_CEILING};
    fill_record();
    record.finding = &finding;
    record.finding_count = 1;
    fill_scores(NULL);
    expect_none(SCORE_OURS, SCORE_INCONCLUSIVE, "not to be believed");
    expect_none(SCORE_FAST_1, SCORE_INCONCLUSIVE, "not to be believed");
}
END_TEST

START_TEST(every_score_is_found_by_its_name)
{
    for (int i = 0; i < SCORE_NAMES; i++) {
        const char *const name = score_traits((enum score_name)i)->name;
        ck_assert_int_eq(score_find(name, strlen(name)), i);
    }
    ck_assert_int_eq(score_find("nosuch", 6), SCORE_NAMES);
    ck_assert_int_eq(score_find("sol", 2), SCORE_NAMES);
}
END_TEST

TCase *scores_case(void)
{
    TCase *tcase = tcase_create("scores");
    tcase_add_test(tcase, points_are_those_of_the_published_example);
    tcase_add_test(tcase, the_bounded_reward_starts_at_five_percent);
    tcase_add_test(tcase, fast_p_counts_what_is_strictly_above_p);
    tcase_add_test(tcase, the_peak_fraction_is_a_geometric_mean_with_a_floor);
    tcase_add_test(tcase, the_sol_score_is_a_half_at_the_baseline);
    tcase_add_test(tcase, a_set_that_passes_has_the_scores_worked_out_by_hand);
    tcase_add_test(tcase, what_fails_or_never_ran_stays_in_every_denominator);
    tcase_add_test(tcase, scouts_that_pass_are_in_no_score_of_speed);
    tcase_add_test(tcase, a_scout_that_fails_counts_like_any_other);
    tcase_add_test(tcase, no_outcome_but_pass_is_worth_more_than_another);
    tcase_add_test(tcase, equal_measurements_give_equal_numbers);
    tcase_add_test(tcase, without_a_baseline_what_compares_has_a_reason_and_no_number);
    tcase_add_test(tcase, a_baseline_that_fails_gives_no_speedup);
    tcase_add_test(tcase, a_cheat_earns_what_a_wrong_kernel_does);
    tcase_add_test(tcase, disturbed_times_give_no_number_and_leave_correctness);
    tcase_add_test(tcase, the_spread_of_a_mean_is_that_worked_out_by_hand);
    tcase_add_test(tcase, times_that_leave_their_mean_open_give_no_number);
    tcase_add_test(tcase, a_run_that_was_cut_off_or_takes_no_times_gives_no_number);
    tcase_add_test(tcase, what_fail_fast_leaves_out_does_not_pass);
    tcase_add_test(tcase, a_time_that_the_hardware_does_not_permit_gives_no_number);
    tcase_add_test(tcase, every_score_is_found_by_its_name);
    reward_table_tests(tcase);
    scores_upright_tests(tcase);
    return tcase;
}
