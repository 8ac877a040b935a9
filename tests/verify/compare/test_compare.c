/* Ratios, their intervals and the decisions by them, against values that were worked out by hand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "verify/compare/compare_stored.h"
#include "verify/compare/paired_test.h"
#include "verify/compare/gate.h"
#include "verify/compare/signed_rank.h"
#include "verify/score/student.h"

static const double close = 1e-12;

/* Subsets of {1, 2, 3} have the sums 0 1 2 3 3 4 5 6; of {1, .., 10} there are 25 with 8 or less, and 43 with
 * 10 or less (any printed table: 0.024 and 0.042). */
START_TEST(signed_ranks_agree_with_the_counted_subsets)
{
    ck_assert_double_eq(signed_rank_tail(3, -1), 0);
    ck_assert_double_eq_tol(signed_rank_tail(3, 0), 1.0 / 8, close);
    ck_assert_double_eq_tol(signed_rank_tail(3, 2), 3.0 / 8, close);
    ck_assert_double_eq_tol(signed_rank_tail(3, 3), 5.0 / 8, close);
    ck_assert_double_eq(signed_rank_tail(3, 6), 1);
    ck_assert_double_eq_tol(signed_rank_tail(10, 8), 25.0 / 1024, close);
    ck_assert_double_eq_tol(signed_rank_tail(10, 10), 43.0 / 1024, close);
}
END_TEST

/* From 65 on the normal distribution: one of 2^n outcomes has W = 0, and its tail must not be the shorter
 * one. */
START_TEST(many_signed_ranks_err_upwards)
{
    const int n = 65, mean = n * (n + 1) / 4;
    ck_assert_double_eq_tol(signed_rank_tail(n, mean), 0.5, 0.002);
    ck_assert_double_gt(signed_rank_tail(n, 0), ldexp(1, -n));
    ck_assert_double_eq_tol(signed_rank_tail(64, 64 * 65 / 4), signed_rank_tail(65, mean), 0.002);
    for (int w = 300; w <= mean; w += 50) {
        const double exact = signed_rank_tail(64, w - 32), normal = signed_rank_tail(65, w);
        ck_assert_double_gt(normal, 0.5 * exact);
    }
}
END_TEST

/* Averages of 1 2 4 9: 1 1.5 2 2.5 3 4 5 5.5 6.5 9. Their median is 3.5; P(W <= 0) = 1/16 leaves no interval
 * of 95%, and one of 87.5% from the least to the greatest. Seven are above 2.25, and
 * P(W >= 7) = P(W <= 3) = 5/16; two are below 1.75. */
START_TEST(the_hodges_lehmann_estimate_is_the_median_of_averages)
{
    const double d[] = {4, 1, 9, 2};
    const struct interval wide = signed_rank_centre(d, 4, 0.05), narrow = signed_rank_centre(d, 4, 0.125);
    ck_assert_double_eq(wide.value, 3.5);
    ck_assert(isinf(wide.low) && isinf(wide.high));
    ck_assert_double_eq(narrow.low, 1);
    ck_assert_double_eq(narrow.high, 9);
    ck_assert_double_eq_tol(signed_rank_above(d, 4, 2.25), 5.0 / 16, close);
    ck_assert_double_eq_tol(signed_rank_below(d, 4, 1.75), signed_rank_tail(4, 8), close);
    ck_assert_double_eq(signed_rank_above(d, 0, 0), 1);
    ck_assert(!signed_rank_centre(d, 0, 0.05).present);
}
END_TEST

/* With six, P(W <= 0) = 1/64 and P(W <= 1) = 2/64: 95% reach from the first average to the last. With ten,
 * the 9th from either end. */
START_TEST(the_interval_inverts_the_test)
{
    double d[10];
    for (int i = 0; i < 10; i++)
        d[i] = i + 1;
    const struct interval six = signed_rank_centre(d, 6, 0.05), ten = signed_rank_centre(d, 10, 0.05);
    ck_assert_double_eq(six.low, 1);
    ck_assert_double_eq(six.high, 6);
    /* averages in order: 1, 1.5, 2 2, 2.5 2.5, 3 3 3, .. */
    ck_assert_double_eq(ten.value, 5.5);
    ck_assert_double_eq(ten.low, 3);
    ck_assert_double_eq(ten.high, 8);
    ck_assert_double_le(signed_rank_above(d, 10, ten.low - 0.01), 0.025);
    ck_assert_double_gt(signed_rank_above(d, 10, ten.low + 0.01), 0.025);
}
END_TEST

START_TEST(averages_that_equal_the_margin_count_against)
{
    const double d[] = {2, 2, 2, 2, 2, 2};
    ck_assert_double_eq(signed_rank_above(d, 6, 2), 1);
    ck_assert_double_eq_tol(signed_rank_above(d, 6, 1.9), 1.0 / 64, close);
}
END_TEST

/* 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1, which may not be below the one before. */
START_TEST(holm_multiplies_by_what_is_left)
{
    const double p[] = {0.01, 0.04, 0.03, 0.005};
    double adjusted[4];
    ck_assert_int_eq(compare_holm(p, 4, adjusted), 0);
    ck_assert_double_eq_tol(adjusted[0], 0.03, close);
    ck_assert_double_eq_tol(adjusted[1], 0.06, close);
    ck_assert_double_eq_tol(adjusted[2], 0.06, close);
    ck_assert_double_eq_tol(adjusted[3], 0.02, close);
}
END_TEST

START_TEST(pairs_give_the_median_of_their_log_ratios)
{
    const double old[] = {1, 2, 4, 1}, new[] = {2, 2, 2, 3};
    double log_ratio = -1;
    ck_assert(compare_pairs(old, new, 3, &log_ratio));
    ck_assert_double_eq_tol(log_ratio, 0, close); /* log 2, 0, -log 2 */
    ck_assert(compare_pairs(old, new, 4, &log_ratio));
    ck_assert_double_eq_tol(log_ratio, log(2) / 2, close);
    ck_assert(!compare_pairs(old, new, 0, &log_ratio));
}
END_TEST

/* 12 (11.4 to 12.6) after 10 (9 to 11). */
START_TEST(medians_give_the_widest_quotient)
{
    const struct interval old = {true, 10, 9, 11}, new = {true, 12, 11.4, 12.6}, none = {false, 10, 9, 11};
    const struct shift shift = compare_medians(&old, &new);
    ck_assert_double_eq_tol(shift.log_ratio.value, log(1.2), close);
    ck_assert_double_eq_tol(shift.log_ratio.low, log(11.4 / 11), close);
    ck_assert_double_eq_tol(shift.log_ratio.high, log(1.4), close);
    ck_assert(!compare_medians(&none, &new).log_ratio.present);
}
END_TEST

/* 0.10 (0.07 to 0.13) today, 0.04 (0 to 0.08) then: 0.06 -+ sqrt(0.03^2 + 0.04^2). */
START_TEST(a_drift_is_as_unsure_as_both_days)
{
    const struct interval today = {true, 0.10, 0.07, 0.13}, then = {true, 0.04, 0, 0.08},
                          none = {.present = false};
    const struct shift shift = compare_drift(&today, &then);
    ck_assert_double_eq_tol(shift.log_ratio.value, 0.06, close);
    ck_assert_double_eq_tol(shift.log_ratio.low, 0.01, close);
    ck_assert_double_eq_tol(shift.log_ratio.high, 0.11, close);
    /* (0.06 - margin) / 0.05 half-widths of 2.228 */
    const double t = 2.2281388519649385 * (0.06 - compare_margin()) / 0.05;
    ck_assert_double_eq_tol(student_quantile(10, shift.slower), t, 1e-9);
    ck_assert_double_eq(shift.faster, 1);
    const struct interval ratio = {true, 2, 0, 4}, wrong = {true, 0, 0, 1};
    ck_assert_double_eq_tol(compare_log(&ratio).value, log(2), close);
    ck_assert(isinf(compare_log(&ratio).low));
    ck_assert(!compare_log(&wrong).present);
    ck_assert(!compare_drift(&today, &none).log_ratio.present);
    ck_assert(!compare_drift(&none, &then).log_ratio.present);
}
END_TEST

static struct shift shift_of(double low, double high, double slower, double faster)
{
    return (struct shift){
        .log_ratio = {true, (low + high) / 2, low, high}, .slower = slower, .faster = faster};
}

/* With four, at three looks and two sides: p x 6, and Holm's 4, 3, 2, 1. */
START_TEST(a_change_needs_its_corrected_p)
{
    struct shift shift[] = {shift_of(0.04, 0.06, 4e-4, 1),
                            shift_of(0.04, 0.06, 6e-4, 1),
                            shift_of(-0.01, 0.01, 1, 1),
                            shift_of(-0.3, -0.1, 1, 1e-9),
                            {.slower = 1, .faster = 1}};
    ck_assert_int_eq(compare_decide(shift, 5, 0.01, 3), 0);
    ck_assert_int_eq(shift[3].change, CHANGE_FASTER);
    ck_assert_int_eq(shift[0].change, CHANGE_SLOWER); /* 6 x 3 x 4e-4 = 0.0072 */
    ck_assert_int_eq(shift[1].change, CHANGE_SLOWER); /* 6 x 2 x 6e-4 = 0.0072 */
    ck_assert_int_eq(shift[2].change, CHANGE_SAME);
    ck_assert_int_eq(shift[4].change, CHANGE_UNDECIDED);
    shift[1].slower = 1e-3; /* 0.012 */
    ck_assert_int_eq(compare_decide(shift, 5, 0.01, 3), 0);
    ck_assert_int_eq(shift[1].change, CHANGE_UNDECIDED);
    ck_assert_double_eq_tol(shift[1].adjusted, 0.012, close);
}
END_TEST

/* Among so many hypotheses a single one is as hard to decide as any: the others are the same. */
static enum change decided(int processes, int hypotheses)
{
    enum { MOST = 2000 };
    static struct shift shift[MOST];
    double log_ratio[32];
    for (int i = 0; i < processes; i++)
        log_ratio[i] = 0.05 + 1e-4 * i;
    for (int i = 0; i < hypotheses; i++)
        shift[i] = i == 0 ? compare_processes(log_ratio, processes) : shift_of(-0.01, 0.01, 1, 1);
    ck_assert_int_eq(compare_decide(shift, hypotheses, gate_alpha, 3), 0);
    return shift[0].change;
}

START_TEST(no_fewer_processes_decide)
{
    static const int hypotheses[] = {1, 2, 9, 41, 1500};
    for (size_t i = 0; i < sizeof hypotheses / sizeof *hypotheses; i++) {
        const int least = gate_least_processes(hypotheses[i], 3);
        ck_assert_int_eq(decided(least, hypotheses[i]), CHANGE_SLOWER);
        ck_assert_int_ne(decided(least - 1, hypotheses[i]), CHANGE_SLOWER);
    }
    ck_assert_int_eq(gate_least_processes(2, 3), 11); /* 12 / 0.01 = 1200, and 2^11 is 2048 */
}
END_TEST

START_TEST(the_margin_is_two_percent_of_speed)
{
    struct shift inside = shift_of(-0.0202, 0.0202, 1, 1), outside = shift_of(-0.0202, 0.0203, 1, 1);
    ck_assert_double_eq_tol(exp(-compare_margin()), 0.98, close);
    compare_decide(&inside, 1, 0.01, 3);
    compare_decide(&outside, 1, 0.01, 3);
    ck_assert_int_eq(inside.change, CHANGE_SAME);
    ck_assert_int_eq(outside.change, CHANGE_UNDECIDED);
}
END_TEST

/* --- the gate --- */

static enum gate gate_of(enum outcome old, enum outcome new, enum change change)
{
    struct compared item[3] = {{.outcome = {old, new}, .shift = shift_of(0, 0, 1, 1)}};
    struct comparison c = {.item = item, .count = 3, .overall = {.log_ratio = {true, 0.1, 0, 0.2}}};
    item[0].shift.change = change;
    for (int i = 1; i < 3; i++)
        item[i] = (struct compared){.shift = {.log_ratio = {.present = true}, .change = CHANGE_SAME}};
    gate_close(&c);
    return c.gate;
}

START_TEST(whatever_gets_worse_closes_the_gate)
{
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_PASS, CHANGE_SAME), GATE_PASSED);
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_PASS, CHANGE_FASTER), GATE_PASSED);
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_PASS, CHANGE_SLOWER), GATE_REGRESSION);
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_WRONG, CHANGE_SAME), GATE_REGRESSION);
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_REFUSED, CHANGE_SAME), GATE_REGRESSION);
    ck_assert_int_eq(gate_of(OUTCOME_REFUSED, OUTCOME_CRASH, CHANGE_SAME), GATE_REGRESSION);
    ck_assert_int_eq(gate_of(OUTCOME_WRONG, OUTCOME_CRASH, CHANGE_SAME), GATE_PASSED);
    ck_assert_int_eq(gate_of(OUTCOME_WRONG, OUTCOME_PASS, CHANGE_SAME), GATE_PASSED);
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_SKIPPED, CHANGE_SAME), GATE_PASSED);
    ck_assert_int_eq(gate_of(OUTCOME_PASS, OUTCOME_PASS, CHANGE_UNDECIDED), GATE_PASSED); /* one of three */
}
END_TEST

/* Inconclusive with most undecided, unless all together are known not to be slower. Also where nothing ran in
 * both. */
START_TEST(what_says_nothing_is_no_success)
{
    struct compared item[2] = {{.shift = {.log_ratio = {.present = true}}},
                               {.shift = {.log_ratio = {.present = true}}}};
    struct comparison c = {.item = item, .count = 2, .overall = {.log_ratio = {true, 0.01, -0.01, 0.03}}};
    gate_close(&c);
    ck_assert_int_eq(c.gate, GATE_INCONCLUSIVE);
    c.overall.log_ratio.high = 0.02;
    gate_close(&c);
    ck_assert_int_eq(c.gate, GATE_PASSED);
    item[0].outcome[0] = item[1].outcome[1] = OUTCOME_SKIPPED;
    gate_close(&c);
    ck_assert_int_eq(c.gate, GATE_INCONCLUSIVE);
    c.overall.change = CHANGE_SLOWER;
    gate_close(&c);
    ck_assert_int_eq(c.gate, GATE_REGRESSION);
}
END_TEST

/* --- stored results --- */

static struct config_result timed(double ms, const char *method)
{
    struct config_result config = {.line = "rows=1 cols=5 input=normal seed=1", .outcome = OUTCOME_PASS};
    config.timing = (struct timing){.present = true,
                                    .median_ms = ms,
                                    .low_ms = ms,
                                    .high_ms = ms,
                                    .method = method,
                                    .baseline_ratio = {true, ms, ms, ms}};
    return config;
}

static struct result result_of(struct config_result *config, const char *problem, const char *device)
{
    struct result result = {.problem = problem, .results = config, .result_count = 1};
    snprintf(result.device, sizeof result.device, "%s", device);
    return result;
}

START_TEST(results_of_two_problems_or_devices_are_not_compared)
{
    static const char *const name[] = {"a.json", "b.json"};
    struct config_result config = timed(1, "clock");
    const struct result old = result_of(&config, "softmax", "H100"),
                        other = result_of(&config, "topk", "H100"),
                        elsewhere = result_of(&config, "softmax", "H200");
    struct comparison c = {.count = 0};
    char error[1024];
    ck_assert_int_eq(matched(&old, &other, name, &c, error, sizeof error), COMPARE_STORED_INPUT);
    ck_assert_ptr_nonnull(strstr(error, "a.json is a result of softmax, and b.json one of topk"));
    ck_assert_int_eq(matched(&old, &elsewhere, name, &c, error, sizeof error), COMPARE_STORED_INPUT);
    ck_assert_ptr_nonnull(strstr(error, "measured on H100, and b.json on H200"));
    ck_assert_ptr_nonnull(strstr(error, "---> "));
}
END_TEST

/* Twice the time, on a machine that is half as fast by its baseline: the ratio to it is 3 after 2. */
START_TEST(a_common_baseline_takes_the_day_out)
{
    static const char *const name[] = {"a.json", "b.json"};
    struct config_result before = timed(2, "clock"), after = timed(4, "clock"), events = timed(4, "events");
    struct result old = result_of(&before, "softmax", "H100"), new = result_of(&after, "softmax", "H100"),
                  other = result_of(&events, "softmax", "H100");
    struct comparison c = {.count = 0}, drift = {.count = 0}, clocks = {.count = 0};
    char error[1024];
    after.timing.baseline_ratio = (struct interval){true, 3, 3, 3};
    ck_assert_int_eq(matched(&old, &new, name, &c, error, sizeof error), COMPARE_STORED_OK);
    ck_assert_int_eq(c.kind, COMPARISON_STORED);
    ck_assert_double_eq_tol(c.item[0].shift.log_ratio.value, log(2), close);
    old.baseline = new.baseline = (struct result_baseline){"baseline.c", "ab", true};
    ck_assert_int_eq(matched(&old, &new, name, &drift, error, sizeof error), COMPARE_STORED_OK);
    ck_assert_int_eq(drift.kind, COMPARISON_DRIFT);
    ck_assert_double_eq_tol(drift.item[0].shift.log_ratio.value, log(1.5), close);
    ck_assert_int_eq(matched(&old, &other, name, &clocks, error, sizeof error), COMPARE_STORED_OK);
    ck_assert_int_eq(clocks.timed, 0);
    ck_assert_ptr_nonnull(strstr(clocks.notes, "another clock"));
    free(c.item);
    free(drift.item);
    free(clocks.item);
}
END_TEST

/* Notes of a result: a machine below its ceilings, a time beside others; and the result that is compared with
 * it. */
static const struct {
    bool slow[2], disturbed[2], baseline;
    double ratio;
    enum gate gate;
    enum change change; /* for each, and for all together */
    const char *note;
} doubts[] = {
    {{false, false}, {false, false}, false, 4, GATE_REGRESSION, CHANGE_SLOWER, "what the machine was like"},
    {{false, true},
     {false, false},
     false,
     4,
     GATE_INCONCLUSIVE,
     CHANGE_UNDECIDED,
     "b.json was made on a machine below its ceilings (copies at half): its times"},
    {{true, false},
     {false, false},
     false,
     4,
     GATE_INCONCLUSIVE,
     CHANGE_UNDECIDED,
     "a.json was made on a machine below"},
    {{false, false},
     {true, false},
     false,
     4,
     GATE_INCONCLUSIVE,
     CHANGE_UNDECIDED,
     "beside others on the device: they decide nothing"},
    {{false, true},
     {false, true},
     true,
     4,
     GATE_REGRESSION,
     CHANGE_SLOWER,
     "ratios to the baseline of the same day hold"},
    {{false, false}, {false, false}, false, 1, GATE_PASSED, CHANGE_SAME, "what the machine was like"},
    {{true, true}, {false, false}, false, 1, GATE_INCONCLUSIVE, CHANGE_UNDECIDED, "below its ceilings"},
};
enum { DOUBTS = sizeof doubts / sizeof *doubts, DAYS = 24 };

static void fill_day(struct config_result config[DAYS], double factor, bool disturbed)
{
    for (int i = 0; i < DAYS; i++) {
        config[i] = timed((2 + 0.1 * i) * factor, "clock");
        snprintf(config[i].line, sizeof config[i].line, "rows=%d", i);
        config[i].timing.disturbed = disturbed;
    }
}

START_TEST(times_that_are_the_machines_decide_nothing)
{
    static const char *const name[] = {"a.json", "b.json"};
    struct config_result before[DAYS], after[DAYS];
    struct comparison c = {.count = 0};
    char error[1024];
    fill_day(before, 1, doubts[_i].disturbed[0]);
    fill_day(after, doubts[_i].ratio, doubts[_i].disturbed[1]);
    struct result old = result_of(before, "softmax", "H100"), new = result_of(after, "softmax", "H100");
    old.result_count = new.result_count = DAYS;
    old.peaks = (struct peaks){.incomparable = doubts[_i].slow[0], .why = "copies at half"};
    new.peaks = (struct peaks){.incomparable = doubts[_i].slow[1], .why = "copies at half"};
    if (doubts[_i].baseline)
        old.baseline = new.baseline = (struct result_baseline){"baseline.c", "ab", true};
    ck_assert_int_eq(matched(&old, &new, name, &c, error, sizeof error), COMPARE_STORED_OK);
    ck_assert_int_eq(c.gate, doubts[_i].gate);
    ck_assert_int_eq(c.timed, DAYS);
    ck_assert_int_eq(c.changed[doubts[_i].change], DAYS);
    ck_assert_int_eq(c.overall.change, doubts[_i].change);
    ck_assert_msg(strstr(c.notes, doubts[_i].note) != NULL, "%s", c.notes);
    free(c.item);
    after[3].outcome = OUTCOME_WRONG; /* an outcome counts on any machine */
    c = (struct comparison){.count = 0};
    ck_assert_int_eq(matched(&old, &new, name, &c, error, sizeof error), COMPARE_STORED_OK);
    ck_assert_int_eq(c.gate, GATE_REGRESSION);
    ck_assert_int_eq(c.lost, 1);
    free(c.item);
}
END_TEST

/* log 2 and log 8: mean log 4, deviation log 4 / sqrt 2, so that a half-width is 12.706 log 2. */
START_TEST(the_mean_has_a_t_interval_over_configurations)
{
    const double log_ratio[] = {log(2), log(8)};
    const struct interval mean = compare_mean(log_ratio, 2);
    ck_assert_double_eq_tol(mean.value, log(4), close);
    ck_assert_double_eq_tol(mean.high - mean.value, 12.7062047 * log(2), 1e-6);
    ck_assert(!compare_mean(log_ratio, 0).present);
}
END_TEST

Suite *compare_suite(void)
{
    Suite *suite = suite_create("compare");
    TCase *tcase = tcase_create("compare");
    tcase_add_test(tcase, signed_ranks_agree_with_the_counted_subsets);
    tcase_add_test(tcase, many_signed_ranks_err_upwards);
    tcase_add_test(tcase, the_hodges_lehmann_estimate_is_the_median_of_averages);
    tcase_add_test(tcase, the_interval_inverts_the_test);
    tcase_add_test(tcase, averages_that_equal_the_margin_count_against);
    tcase_add_test(tcase, holm_multiplies_by_what_is_left);
    tcase_add_test(tcase, pairs_give_the_median_of_their_log_ratios);
    tcase_add_test(tcase, medians_give_the_widest_quotient);
    tcase_add_test(tcase, a_drift_is_as_unsure_as_both_days);
    tcase_add_test(tcase, a_change_needs_its_corrected_p);
    tcase_add_test(tcase, no_fewer_processes_decide);
    tcase_add_test(tcase, the_margin_is_two_percent_of_speed);
    tcase_add_test(tcase, whatever_gets_worse_closes_the_gate);
    tcase_add_test(tcase, what_says_nothing_is_no_success);
    tcase_add_test(tcase, results_of_two_problems_or_devices_are_not_compared);
    tcase_add_test(tcase, a_common_baseline_takes_the_day_out);
    tcase_add_loop_test(tcase, times_that_are_the_machines_decide_nothing, 0, DOUBTS);
    tcase_add_test(tcase, the_mean_has_a_t_interval_over_configurations);
    suite_add_tcase(suite, tcase);
    return suite;
}
