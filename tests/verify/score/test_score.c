/* Intervals against published values; the verdict over every combination of outcomes. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "verify/device/device.h"
#include "verify/score/score.h"

static void expect_interval(struct interval interval, double low, double high, double tolerance)
{
    ck_assert(interval.present);
    ck_assert_double_eq_tol(interval.low, low, tolerance);
    ck_assert_double_eq_tol(interval.high, high, tolerance);
}

/* Newcombe (1998), Stat. Med. 17:857, table I, method 3. */
START_TEST(wilson_agrees_with_newcombes_table)
{
    expect_interval(score_wilson(81, 263), 0.2553, 0.3662, 5e-5);
    expect_interval(score_wilson(15, 148), 0.0624, 0.1605, 5e-5);
    expect_interval(score_wilson(0, 20), 0, 0.1611, 5e-5);
    expect_interval(score_wilson(1, 29), 0.0061, 0.1718, 5e-5);
}
END_TEST

/* Newcombe (1998), Stat. Med. 17:873, table II, method 10. */
START_TEST(difference_agrees_with_newcombes_table)
{
    expect_interval(score_difference(56, 70, 48, 80), 0.0524, 0.3339, 5e-5);
    expect_interval(score_difference(9, 10, 3, 10), 0.1705, 0.8090, 5e-5);
    expect_interval(score_difference(6, 7, 2, 7), 0.0582, 0.8062, 5e-5);
    expect_interval(score_difference(5, 56, 0, 29), -0.0381, 0.1926, 5e-5);
    expect_interval(score_difference(0, 10, 0, 20), -0.1611, 0.2775, 5e-5);
    expect_interval(score_difference(0, 10, 0, 10), -0.2775, 0.2775, 5e-5);
    expect_interval(score_difference(10, 10, 0, 20), 0.6791, 1, 5e-5);
    expect_interval(score_difference(10, 10, 0, 10), 0.6075, 1, 5e-5);
}
END_TEST

START_TEST(an_empty_set_has_no_interval)
{
    ck_assert(!score_wilson(0, 0).present);
    ck_assert(!score_difference(1, 1, 0, 0).present);
    ck_assert(!score_geomean(NULL, 0).present);
    ck_assert(!score_median(NULL, 0).present);
}
END_TEST

/* Any printed t table, and the closed forms at 1 and 2: tan(0.475 pi) and 0.95 / sqrt(0.04875). */
START_TEST(student_t_agrees_with_the_printed_table)
{
    static const struct {
        double df, t;
    } table[] = {
        {1, 12.7062}, {2, 4.3027},   {3, 3.1824},    {4, 2.7764},         {5, 2.5706},
        {9, 2.2622},  {10, 2.2281},  {15, 2.1314},   {20, 2.0860},        {30, 2.0423},
        {60, 2.0003}, {120, 1.9799}, {1e9, 1.95996}, {INFINITY, 1.95996},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        ck_assert_double_eq_tol(score_student_t(table[i].df), table[i].t, 6e-5);
    ck_assert_double_eq_tol(score_student_t(2), 0.95 / sqrt(0.04875), 1e-11);
}
END_TEST

/* The density integrated by Simpson's rule: an independent evaluation at fractional df. */
static double upper_tail(double t, double df)
{
    const int steps = 20000;
    const double scale = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * 3.14159265358979324);
    double sum = 0;

    for (int i = 0; i <= steps; i++) {
        double x = t * i / steps;
        double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;

        sum += weight * pow(1 + x * x / df, -(df + 1) / 2);
    }
    return 0.5 - scale * sum * t / steps / 3;
}

START_TEST(student_t_holds_at_fractional_degrees_of_freedom)
{
    static const double df[] = {1.001, 1.5, 2.5, 3.7, 12.34, 136.875, 9999.5, 10000.5};

    for (size_t i = 0; i < sizeof df / sizeof df[0]; i++)
        ck_assert_double_eq_tol(upper_tail(score_student_t(df[i]), df[i]), 0.025, 1e-9);
}
END_TEST

START_TEST(student_t_falls_as_degrees_of_freedom_grow)
{
    double before = score_student_t(1);

    for (double df = 1.05; df < 1e6; df *= 1.05) {
        double now = score_student_t(df);

        ck_assert_double_lt(now, before);
        before = now;
    }
}
END_TEST

/* NIST/SEMATECH e-Handbook 1.3.5.3, AUTO83B: 249 US cars with s = 6.41470 and 79 Japanese ones with
 * s = 6.10771 give 136.8750 degrees of freedom without assuming equal variances. */
START_TEST(welch_agrees_with_the_nist_handbook)
{
    ck_assert_double_eq_tol(score_welch_df(6.41470 * 6.41470, 249, 6.10771 * 6.10771, 79), 136.875, 2e-3);
}
END_TEST

/* Powers of two: logarithms 1..5 (in units of log 2) have mean 3, s = sqrt(2.5), t(4) = 2.77645. */
START_TEST(geomean_interval_is_the_t_interval_of_the_logarithms)
{
    const double value[] = {2, 4, 8, 16, 32};
    struct interval interval = score_geomean(value, 5);
    double half = 2.776445105 * sqrt(2.5 / 5);

    ck_assert_double_eq_tol(interval.value, 8, 1e-12);
    expect_interval(interval, exp2(3 - half), exp2(3 + half), 1e-6);
}
END_TEST

START_TEST(geomean_of_one_value_leaves_everything_possible)
{
    const double value[] = {0.5};
    struct interval interval = score_geomean(value, 1);

    ck_assert_double_eq_tol(interval.value, 0.5, 1e-15);
    ck_assert_double_eq(interval.low, 0);
    ck_assert(isinf(interval.high));
}
END_TEST

/* Logarithms 1..5 against 2, 4 (units of log 2): s1^2/n1 = 0.5, s2^2/n2 = 1, df = 2.25/(0.0625 + 1). */
START_TEST(ratio_of_geomeans_has_welchs_interval)
{
    const double top[] = {2, 4, 8, 16, 32}, bottom[] = {4, 16};
    struct interval interval = score_geomean_ratio(top, 5, bottom, 2);
    double half = score_student_t(2.25 / 1.0625) * sqrt(1.5);

    ck_assert_double_eq_tol(interval.value, 1, 1e-12);
    expect_interval(interval, exp2(-half), exp2(half), 1e-6 * exp2(half));
}
END_TEST

START_TEST(ratio_of_constant_sets_is_a_point)
{
    const double top[] = {0.5, 0.5, 0.5}, bottom[] = {0.25, 0.25};

    expect_interval(score_geomean_ratio(top, 3, bottom, 2), 2, 2, 1e-12);
}
END_TEST

/* Ranks of the 95% interval of a median, as tabulated (Conover, table A3; Hahn and Meeker). */
/* t of 4 degrees of freedom is 2.776; the deviation of 1 to 5 is sqrt(2.5). */
START_TEST(mean_has_its_t_interval_from_two_values_on)
{
    const double value[] = {3, 1, 5, 2, 4};
    const struct interval mean = score_mean(value, 5);
    ck_assert(mean.present);
    ck_assert_double_eq_tol(mean.value, 3, 1e-12);
    ck_assert_double_eq_tol(mean.high - 3, 2.776 * sqrt(2.5 / 5), 1e-3);
    ck_assert_double_eq_tol(3 - mean.low, mean.high - 3, 1e-12);
    ck_assert(!score_mean(value, 1).present);
    ck_assert_double_eq(score_mean(value, 1).value, 3);
}
END_TEST

START_TEST(median_interval_has_the_tabulated_ranks)
{
    static const struct {
        int count, low, high;
    } table[] = {
        {6, 1, 6},   {8, 1, 8},   {9, 2, 8},    {10, 2, 9},    {15, 4, 12},
        {20, 6, 15}, {25, 8, 18}, {50, 18, 33}, {100, 40, 61},
    };
    double value[100];

    for (int i = 0; i < 100; i++)
        value[i] = i + 1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct interval interval = score_median(value, table[i].count);

        expect_interval(interval, table[i].low, table[i].high, 1e-9);
        ck_assert_double_eq(interval.value, (table[i].count + 1) / 2.0);
    }
}
END_TEST

START_TEST(median_interval_is_continuous_where_the_approximation_takes_over)
{
    double value[1001];
    struct interval exact, approximate;

    for (int i = 0; i < 1001; i++)
        value[i] = i;
    exact = score_median(value, 999);
    approximate = score_median(value, 1001);
    ck_assert_double_eq_tol(exact.low, approximate.low, 2);
    ck_assert_double_eq_tol(exact.high, approximate.high, 4);
}
END_TEST

START_TEST(five_values_are_too_few_for_a_median_interval)
{
    const double value[] = {1, 2, 3, 4, 50};
    struct interval interval = score_median(value, 5);

    ck_assert(!interval.present);
    ck_assert_double_eq(interval.value, 3);
    ck_assert_double_eq(interval.low, 1);
    ck_assert_double_eq(interval.high, 50);
}
END_TEST

START_TEST(p95_is_the_nearest_rank)
{
    double value[100];

    for (int i = 0; i < 100; i++)
        value[i] = i + 1;
    ck_assert_double_eq(score_p95(value, 1), 1);
    ck_assert_double_eq(score_p95(value, 19), 19);
    ck_assert_double_eq(score_p95(value, 20), 19);
    ck_assert_double_eq(score_p95(value, 100), 95);
}
END_TEST

static struct config_result timed(bool unseen, enum outcome outcome, double ms, double fraction)
{
    struct config_result config = {.unseen = unseen, .outcome = outcome, .flops = 2e9, .bytes = 1e6};

    config.timing.present = true;
    config.timing.median_ms = ms;
    config.timing.fraction = fraction;
    return config;
}

START_TEST(set_scores_count_and_average_only_what_passes)
{
    struct config_result results[] = {
        timed(false, OUTCOME_PASS, 1, 0.5), timed(false, OUTCOME_PASS, 4, 0.125),
        timed(true, OUTCOME_PASS, 2, 0.25), timed(true, OUTCOME_WRONG, 0.001, 40),
        timed(true, OUTCOME_SKIPPED, 1, 1), {.unseen = true, .outcome = OUTCOME_PASS},
    };
    struct result result = {.results = results, .result_count = 6};

    score_set(&result);
    ck_assert_int_eq(result.seen.configs, 2);
    ck_assert_int_eq(result.unseen.configs, 4);
    ck_assert_int_eq(result.unseen.outcome[OUTCOME_SKIPPED], 1);
    ck_assert_double_eq_tol(result.seen.geomean_rate, 1, 1e-12); /* 2 and 0.5 TFLOP/s */
    ck_assert_double_eq_tol(result.seen.geomean_fraction, 0.25, 1e-12);
    ck_assert_double_eq_tol(result.unseen.score, 0.5 * 0.25, 1e-12);
    ck_assert_double_eq_tol(result.drop.value, 50, 1e-12);
    ck_assert_double_eq_tol(result.retention.value, 1, 1e-12);
    result.memory_bound = true;
    score_set(&result);
    ck_assert_double_eq_tol(result.seen.geomean_rate, 0.5, 1e-12); /* 1 and 0.25 GB/s */
}
END_TEST

START_TEST(an_untimed_run_has_no_retention_and_an_empty_one_no_drop)
{
    struct config_result results[] = {{.outcome = OUTCOME_PASS}, {.unseen = true}};
    struct result result = {.results = results, .result_count = 2}, empty = {0};

    score_set(&result);
    ck_assert(result.drop.present && !result.retention.present && !result.seen.timed);
    score_set(&empty);
    ck_assert(!empty.drop.present && !empty.retention.present);
}
END_TEST

static struct result of_two(struct config_result results[2], enum outcome seen, enum outcome unseen)
{
    results[0] = (struct config_result){.outcome = seen};
    results[1] = (struct config_result){.outcome = unseen, .unseen = true};
    return (struct result){.results = results, .result_count = 2, .planned = 2};
}

START_TEST(times_above_the_ceiling_earn_nothing)
{
    struct config_result results[2];
    struct finding above = {.kind = FINDING_CEILING};
    struct result result = of_two(results, OUTCOME_PASS, OUTCOME_PASS);
    for (int i = 0; i < 2; i++)
        results[i].timing = (struct timing){.present = true, .median_ms = 1, .fraction = i ? 0.5 : 4};
    score_set(&result);
    ck_assert(result.seen.timed && result.unseen.timed);
    ck_assert_double_eq_tol(result.seen.score, 4, 1e-12);
    result.finding = &above;
    result.finding_count = 1;
    score_set(&result);
    ck_assert(!result.seen.timed && !result.unseen.timed);
    ck_assert_double_eq(result.seen.score, 0);
    ck_assert_double_eq(result.unseen.score, 0);
    ck_assert_double_eq(result.seen.rate, 1);
}
END_TEST

/* Rows: seen outcome; columns: unseen outcome, in the order of the enum. g l s b i: the verdict. */
START_TEST(the_verdict_follows_the_table_over_all_pairs_of_outcomes)
{
    /*                                      pwuomurctes */
    static const char *const table[] = {
        [OUTCOME_PASS] = /*              */ "gssssslsssi", [OUTCOME_WRONG] = /*             */ "bbbbbbbbbbb",
        [OUTCOME_UNWRITTEN] = /*         */ "bbbbbbbbbbb", [OUTCOME_OVERRUN] = /*           */ "bbbbbbbbbbb",
        [OUTCOME_MODIFIED] = /*          */ "bbbbbbbbbbb", [OUTCOME_UNSTABLE] = /*          */ "bbbbbbbbbbb",
        [OUTCOME_REFUSED] = /*           */ "bbbbbbbbbbb", [OUTCOME_CRASH] = /*             */ "bbbbbbbbbbb",
        [OUTCOME_TIMEOUT] = /*           */ "bbbbbbbbbbb", [OUTCOME_EXCEEDED] = /*          */ "bbbbbbbbbbb",
        [OUTCOME_SKIPPED] = /*           */ "isssssisssi",
    };
    struct config_result results[2];
    struct finding cheating = {.kind = FINDING_REPLAY}, odd = {.kind = FINDING_CEILING};

    for (int i = 0; i < OUTCOME_COUNT * OUTCOME_COUNT; i++) {
        enum outcome seen = i / OUTCOME_COUNT, unseen = i % OUTCOME_COUNT;
        struct result result = of_two(results, seen, unseen);
        char expected = table[seen][unseen];

        result.finding = &odd;
        result.finding_count = 1;
        ck_assert_int_eq(verdict_name(verdict_decide(&result))[0], expected);
        result.partial = true; /* a failure still decides */
        ck_assert_int_eq(verdict_name(verdict_decide(&result))[0],
                         expected == 's' || expected == 'b' ? expected : 'i');
        result.partial = false;
        result.planned = 3;
        ck_assert_int_eq(verdict_name(verdict_decide(&result))[0],
                         expected == 's' || expected == 'b' ? expected : 'i');
        result.finding = &cheating;
        ck_assert_int_eq(verdict_decide(&result), VERDICT_CHEATING);
    }
}
END_TEST

/* This is not cheating, and no pass makes up for it; cheating is worse. A forbidden act that could not be
 * examined leaves a failure and takes a success. */
START_TEST(what_is_forbidden_decides_before_outcomes_and_after_cheating)
{
    struct config_result results[2];
    struct finding finding[] = {{.kind = FINDING_FORBIDDEN}, {.kind = FINDING_REPLAY}};

    for (int i = 0; i < OUTCOME_COUNT * OUTCOME_COUNT; i++) {
        struct result result = of_two(results, i / OUTCOME_COUNT, i % OUTCOME_COUNT);
        const enum element_verdict plain = verdict_decide(&result);

        result.forbid_blind = true;
        ck_assert_int_eq(verdict_decide(&result),
                         plain == VERDICT_GENERAL || plain == VERDICT_LIMITED ? VERDICT_INCONCLUSIVE : plain);
        result.finding = finding;
        result.finding_count = 1;
        ck_assert_int_eq(verdict_decide(&result), VERDICT_FORBIDDEN);
        result.finding_count = 2;
        ck_assert_int_eq(verdict_decide(&result), VERDICT_CHEATING);
    }
}
END_TEST

START_TEST(a_run_that_tested_nothing_is_inconclusive)
{
    struct config_result one = {.outcome = OUTCOME_PASS};
    struct result result = {0};

    ck_assert_int_eq(verdict_decide(&result), VERDICT_INCONCLUSIVE);
    result = (struct result){.results = &one, .result_count = 1, .planned = 1};
    ck_assert_int_eq(verdict_decide(&result), VERDICT_INCONCLUSIVE); /* --unseen 0 */
    one.unseen = true;
    ck_assert_int_eq(verdict_decide(&result), VERDICT_INCONCLUSIVE); /* an empty seen set */
    one.outcome = OUTCOME_CRASH;
    ck_assert_int_eq(verdict_decide(&result), VERDICT_SPECIALIZED);
    one.unseen = false;
    ck_assert_int_eq(verdict_decide(&result), VERDICT_BROKEN);
}
END_TEST

START_TEST(some_skipped_unseen_configurations_leave_the_verdict_to_the_others)
{
    struct config_result results[] = {
        {.outcome = OUTCOME_PASS},
        {.outcome = OUTCOME_SKIPPED, .unseen = true},
        {.outcome = OUTCOME_PASS, .unseen = true},
    };
    struct result result = {.results = results, .result_count = 3, .planned = 3};

    ck_assert_int_eq(verdict_decide(&result), VERDICT_GENERAL);
    results[2].outcome = OUTCOME_REFUSED;
    ck_assert_int_eq(verdict_decide(&result), VERDICT_LIMITED);
}
END_TEST

START_TEST(the_published_verdict_sees_outputs_crashes_timeouts_and_refusals_only)
{
    /* The unseen outcome, judged and passed by the published check; the seen one passes. */
    static const char passed[] = "gggggglsssi", failed[] = "sssssslsssi", unknown[] = "iiiiiilsssi";
    struct config_result results[2];
    struct finding cheating = {.kind = FINDING_CLOCK};

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        struct result result = of_two(results, OUTCOME_PASS, i);

        result.finding = &cheating;
        result.finding_count = 1;
        results[0].published_judged = results[0].published_pass = true;
        ck_assert_int_eq(verdict_name(verdict_decide_published(&result))[0], unknown[i]);
        results[1].published_judged = true;
        ck_assert_int_eq(verdict_name(verdict_decide_published(&result))[0], failed[i]);
        results[1].published_pass = true;
        ck_assert_int_eq(verdict_name(verdict_decide_published(&result))[0], passed[i]);
    }
}
END_TEST

static double ceiling(const char *gpu, const char *problem)
{
    struct device device = {.backend = BACKEND_CUDA};
    ck_assert(device_vendor_ceilings(gpu, &device.vendor));
    return device_tflops(&device, problem_find(problem));
}

/* Problems that memory bounds have the ceiling of their arithmetic besides. */
START_TEST(work_is_measured_against_the_units_that_a_problem_runs_on)
{
    ck_assert(ceiling("NVIDIA H200", "gemm_f32") == 67 && ceiling("NVIDIA H200", "gemm_bf16") == 989.5);
    ck_assert(ceiling("NVIDIA H200", "gemm_fp8") == 1979 && ceiling("NVIDIA H200", "kda") == 989.5);
    ck_assert(ceiling("NVIDIA H200", "softmax") == 67 && ceiling("NVIDIA H200", "topk") == 67);
    ck_assert(ceiling("NVIDIA H200", "paged_attention") == 989.5);
    ck_assert(ceiling("NVIDIA A100-SXM4-80GB", "gemm_fp8") == 312); /* has no fp8 units */
}
END_TEST

START_TEST(the_host_multiplies_in_fp32_whatever_the_problem)
{
    const struct device host = {.backend = BACKEND_HOST, .measured = {.tflops = {[RATE_F32] = 0.5}}};
    for (const struct problem *const *p = problem_registry; *p; p++)
        ck_assert(device_tflops(&host, *p) == 0.5);
}
END_TEST

Suite *score_suite(void)
{
    Suite *suite = suite_create("score");
    TCase *numbers = tcase_create("intervals"), *verdicts = tcase_create("verdicts");
    TCase *ceilings = tcase_create("ceilings");

    tcase_add_test(numbers, wilson_agrees_with_newcombes_table);
    tcase_add_test(numbers, difference_agrees_with_newcombes_table);
    tcase_add_test(numbers, an_empty_set_has_no_interval);
    tcase_add_test(numbers, student_t_agrees_with_the_printed_table);
    tcase_add_test(numbers, student_t_holds_at_fractional_degrees_of_freedom);
    tcase_add_test(numbers, student_t_falls_as_degrees_of_freedom_grow);
    tcase_add_test(numbers, welch_agrees_with_the_nist_handbook);
    tcase_add_test(numbers, geomean_interval_is_the_t_interval_of_the_logarithms);
    tcase_add_test(numbers, geomean_of_one_value_leaves_everything_possible);
    tcase_add_test(numbers, ratio_of_geomeans_has_welchs_interval);
    tcase_add_test(numbers, ratio_of_constant_sets_is_a_point);
    tcase_add_test(numbers, mean_has_its_t_interval_from_two_values_on);
    tcase_add_test(numbers, median_interval_has_the_tabulated_ranks);
    tcase_add_test(numbers, median_interval_is_continuous_where_the_approximation_takes_over);
    tcase_add_test(numbers, five_values_are_too_few_for_a_median_interval);
    tcase_add_test(numbers, p95_is_the_nearest_rank);
    tcase_add_test(verdicts, set_scores_count_and_average_only_what_passes);
    tcase_add_test(verdicts, an_untimed_run_has_no_retention_and_an_empty_one_no_drop);
    tcase_add_test(verdicts, what_is_forbidden_decides_before_outcomes_and_after_cheating);
    tcase_add_test(verdicts, times_above_the_ceiling_earn_nothing);
    tcase_add_test(verdicts, the_verdict_follows_the_table_over_all_pairs_of_outcomes);
    tcase_add_test(verdicts, a_run_that_tested_nothing_is_inconclusive);
    tcase_add_test(verdicts, some_skipped_unseen_configurations_leave_the_verdict_to_the_others);
    tcase_add_test(verdicts, the_published_verdict_sees_outputs_crashes_timeouts_and_refusals_only);
    tcase_add_test(ceilings, work_is_measured_against_the_units_that_a_problem_runs_on);
    tcase_add_test(ceilings, the_host_multiplies_in_fp32_whatever_the_problem);
    suite_add_tcase(suite, ceilings);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, verdicts);
    suite_add_tcase(suite, scores_case());
    return suite;
}
