/* verify and check on candidates of every verdict: exit statuses, options that change them. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *verdict_in(const json_t *result)
{
    return json_string_value(json_object_get(result, "verdict"));
}

START_TEST(an_honest_candidate_is_general_with_status_0)
{
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), TINY, "--unseen", "6", "--json",
        "r.json", "--csv", "r.csv");
    cli_expect(0, "general: it works on all 2");
    ck_assert_str_eq(cli.err, "");
    json_t *result = cli_json("r.json");
    ck_assert_str_eq(verdict_in(result), "general");
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 2);
    ck_assert_int_eq(cli_count(result, "unseen", "pass"), 6);
    ck_assert(json_is_false(json_object_get(result, "partial")));
    json_decref(result);
}
END_TEST

START_TEST(a_shape_table_is_specialized_with_status_1_and_its_reproduction_reproduces)
{
    cli_put("tables.space", "rows 1..32\ncols 1..4096\ninput normal\n");
    cli_put("tables.seen", "rows=32 cols=4096\n");
    CLI("verify", "softmax", cli_repository("problems/softmax/bad/shape_table.c"), TINY, "--contract",
        "tables.space", "--seen", "tables.seen", "--unseen", "4");
    cli_expect(1, "specialized: ");
    const char *line = strstr(cli.out, "\n  unseen check ");
    ck_assert(line != NULL);
    line += strlen("\n  unseen");
    const size_t length = strcspn(line, "\n");
    char command[2000];
    snprintf(command, sizeof command, "'%s'%.*s >again.txt", cli_tool(), (int)length, line);
    ck_assert(strstr(command, "--device host --contract tables.space") != NULL);
    ck_assert_int_eq(system(command), 1 << 8); /* exit status 1 */
    ck_assert_int_eq(system("grep -q -e ^unwritten -e ^wrong again.txt"), 0);
}
END_TEST

START_TEST(an_honest_refusal_is_limited_with_status_1)
{
    cli_put_kernel("even.c", "if (cols % 2) return 1;", "0");
    CLI("verify", "-v", "softmax", "even.c", TINY, "--unseen", "8", "--seed", "3");
    cli_expect(1, "limited: ");
    cli_expect(1, "refused: ");
}
END_TEST

START_TEST(check_passes_with_status_0_and_shows_a_wrong_element_with_status_1)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "0.25");
    CLI("check", "softmax", "right.c", "rows=3 cols=5 seed=91", "--device", "host");
    cli_expect(0, "pass: rows=3 cols=5 input=normal seed=91");
    CLI("check", "softmax", "wrong.c", "rows=3 cols=5 seed=91", "--device", "host");
    cli_expect(1, "wrong: rows=3 cols=5 input=normal seed=91");
    cli_expect(1, "worst      y[");
    CLI("check", "softmax", "wrong.c", "rows=3 cols=5 seed=91", "--device", "host", "-q");
    ck_assert_int_eq(cli.status, 1);
    ck_assert_str_eq(cli.out, "wrong\n");
}
END_TEST

START_TEST(without_unseen_configurations_the_verdict_is_inconclusive)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "0");
    cli_expect(1, "inconclusive: ");
}
END_TEST

START_TEST(quiet_prints_the_verdict_and_nothing_else)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "2", "-q");
    ck_assert_int_eq(cli.status, 0);
    ck_assert_str_eq(cli.out, "general\n");
    ck_assert_str_eq(cli.err, "");
}
END_TEST

START_TEST(verbose_prints_a_line_for_every_configuration_and_where_the_time_went)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "2", "-v");
    cli_expect(0, "pass      seen    rows=4 cols=256");
    cli_expect(0, "pass      unseen  rows=");
    cli_expect(0, "building");
    cli_expect(0, "witnessing");
    cli_expect(0, "explaining       0.00 s");
}
END_TEST

START_TEST(in_a_pipe_there_are_no_escapes_and_no_progress_line)
{
    cli_put_kernel("wrong.c", "if (rows == 8) return 1;", "0.25");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "4", "-v");
    cli_expect(1, "broken: ");
    cli_expect_without("\033");
    cli_expect_without("\r");
}
END_TEST

START_TEST(the_published_tolerance_decides_when_asked_and_both_are_told)
{
    /* Within the published 1e-5, far outside the errors of fp32. */
    cli_put_kernel("near.c", "", "5e-6");
    CLI("verify", "softmax", "near.c", TINY, "--unseen", "4", "--json", "exact.json");
    cli_expect(1, "broken: ");
    CLI("verify", "softmax", "near.c", TINY, "--unseen", "4", "--tolerance", "published", "--json",
        "published.json");
    cli_expect(0, "general");
    cli_expect(0, "broken");
    cli_expect(0, "--tolerance published");
    CLI("check", "softmax", "near.c", "rows=3 cols=200", "--device", "host", "--tolerance", "published");
    cli_expect(0, "published  the published check passes it");
    CLI("check", "softmax", "near.c", "rows=3 cols=200", "--device", "host");
    cli_expect(1, "wrong: ");
}
END_TEST

START_TEST(a_tolerance_of_the_users_is_judged_beside_ours_and_never_decides)
{
    static const char space[] = "rows 1..32 tile 4\ncols 1..600 tile 4 32\ninput normal integers wide\n";
    char own[300];
    snprintf(own, sizeof own, "%stolerance rtol=0 atol=1e-5\n", space);
    cli_put("own.space", own);
    snprintf(own, sizeof own, "%stolerance atol=1e-6 rtol=0\n", space);
    cli_put("tight.space", own);
    cli_put_kernel("near.c", "", "5e-6");
    CLI("verify", "softmax", "near.c", TINY, "--contract", "own.space", "--unseen", "4", "--no-explain",
        "--json", "r.json");
    cli_expect(1, "broken: ");
    cli_expect(1, "your check  general (atol=1e-05 rtol=0 of the contract alone); passes 6 of the 6");
    json_t *json = cli_json("r.json");
    ck_assert_str_eq(verdict_in(json), "broken");
    ck_assert_str_eq(verdict_in(json_object_get(json, "published")), "general");
    ck_assert(json_is_false(json_object_get(json_object_get(json, "published"), "decides")));
    ck_assert(json_real_value(json_object_get(json_object_get(json, "own_tolerance"), "atol")) == 1e-5);
    json_decref(json);
    CLI("report", "r.json");
    cli_expect(1, "your check  general (atol=1e-05 rtol=0 of the contract alone)");
    CLI("check", "softmax", "near.c", "rows=3 cols=200", "--device", "host", "--contract", "own.space");
    cli_expect(1, "your check atol=1e-05 rtol=0 of the contract passes it");
    CLI("check", "softmax", "near.c", "rows=3 cols=200", "--device", "host", "--contract", "tight.space");
    cli_expect(1, "your check atol=1e-06 rtol=0 of the contract fails it");
    CLI("verify", "softmax", "near.c", TINY, "--contract", "own.space", "--tolerance", "published");
    cli_expect_error(2, "own.space has a tolerance of its own", "expected one of them",
                     "leave out the option");
}
END_TEST

START_TEST(a_tolerance_that_is_none_is_refused_with_its_line)
{
    static const char *const bad[] = {
        "atol=1e-3",       "atol=1e-3 atol=1e-3 rtol=0", "atol=-1 rtol=0", "atol=x rtol=0",
        "atol=inf rtol=0", "atol=1e-3 rtol=1e-2 more",   "atol=1 rtol=1x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char space[300];
        snprintf(space, sizeof space, "rows 1..32\ntolerance %s\ncols 1..600\ninput normal\n", bad[i]);
        cli_put("own.space", space);
        CLI("draw", "softmax", "--device", "host", "--contract", "own.space");
        cli_expect_error(2, "own.space:2: tolerance: found '", "expected atol and rtol",
                         "tolerance atol=1e-3");
    }
    cli_put("own.space",
            "rows 1..32\ncols 1..600\ninput normal\ntolerance atol=1 rtol=1\ntolerance atol=1 rtol=1\n");
    CLI("draw", "softmax", "--device", "host", "--contract", "own.space");
    cli_expect_error(2, "own.space:5: tolerance: found 'a second line'", "once each", "tolerance atol=1e-3");
}
END_TEST

START_TEST(without_timing_nothing_is_timed_and_with_it_everything_is)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "2", "--json", "r.json");
    json_t *result = cli_json("r.json");
    json_t *first = json_array_get(json_object_get(result, "results"), 0);
    ck_assert(json_is_null(json_object_get(first, "time_ms")));
    ck_assert(json_is_null(json_object_get(json_object_get(result, "seen"), "score")));
    json_decref(result);
    CLI("verify", "softmax", "right.c", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",
        "--unseen", "1", "--json", "r.json", "--baseline", "right.c");
    cli_expect(0, "times as fast as the baseline right.c");
    result = cli_json("r.json");
    json_t *time = json_object_get(json_array_get(json_object_get(result, "results"), 0), "time_ms");
    ck_assert(json_real_value(json_object_get(time, "median")) > 0);
    ck_assert(json_real_value(json_object_get(time, "baseline")) > 0);
    json_decref(result);
}
END_TEST

START_TEST(a_narrower_contract_leaves_published_configurations_out_with_a_note)
{
    cli_put("narrow.space", "rows 1..32\ncols 1..4096\ninput normal\n");
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), "--device", "host", "--contract",
        "narrow.space", "--unseen", "2", "--no-timing", "--json", "r.json");
    cli_expect(0, "4 of 5 seen configurations lie outside narrow.space and are left out");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "configs"), 1);
    json_decref(result);
}
END_TEST

START_TEST(several_jobs_judge_the_same_sets)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "12", "--jobs", "3", "--seed", "5", "--json",
        "r.json");
    cli_expect(0, "general: it works on all 2");
    json_t *result = cli_json("r.json");
    ck_assert_uint_eq(json_array_size(json_object_get(result, "results")), 14);
    json_decref(result);
}
END_TEST

/* --- --fail-fast --- */

START_TEST(fail_fast_stops_at_the_first_failure_and_skips_the_rest)
{
    cli_put_kernel("wrong.c", "", "rows == 8 ? 0.25 : 0");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "6", "--fail-fast", "--json", "r.json");
    cli_expect(1, "6: not run: --fail-fast after a failure");
    json_t *result = cli_json("r.json");
    ck_assert_str_eq(verdict_in(result), "broken");
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 1);
    ck_assert_int_eq(cli_count(result, "seen", "wrong"), 1);
    ck_assert_int_eq(cli_count(result, "unseen", "skipped"), 6);
    ck_assert_int_eq(cli_count(result, "unseen", "configs"), 6);
    ck_assert(json_is_true(json_object_get(result, "partial")));
    ck_assert_str_eq(json_string_value(json_object_get(result, "partial_reason")), "--fail-fast: 6 not run");
    ck_assert(json_is_null(json_object_get(result, "drop"))); /* nobody measured one */
    cli_expect_without("  drop ");
    json_decref(result);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "6", "-v");
    cli_expect_without("not run:");
    cli_expect(1, "  drop ");
}
END_TEST

START_TEST(fail_fast_does_not_stop_at_refusals_or_skipped_configurations)
{
    cli_put("huge.seen", "rows=65536 cols=1048576\nrows=2 cols=4\n");
    cli_put_kernel("even.c", "if (cols % 2) return 1;", "0");
    CLI("verify", "softmax", "even.c", "--device", "host", "--no-timing", "--seen", "huge.seen", "--unseen",
        "0", "--fail-fast", "--json", "r.json");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 1);
    json_decref(result);
    CLI("verify", "softmax", "even.c", TINY, "--unseen", "8", "--seed", "3", "--fail-fast", "--json",
        "r.json");
    cli_expect(1, "limited: ");
    result = cli_json("r.json");
    ck_assert_int_gt(cli_count(result, "unseen", "refused"), 1);
    ck_assert_int_eq(cli_count(result, "unseen", "skipped"), 0);
    json_decref(result);
}
END_TEST

/* A failure by our own judgement alone does not stop a run that the published check decides. */
START_TEST(fail_fast_with_the_published_tolerance_stops_where_that_fails)
{
    cli_put_kernel("near.c", "", "5e-6");
    CLI("verify", "softmax", "near.c", TINY, "--unseen", "6", "--fail-fast", "--tolerance", "published",
        "--json", "r.json");
    cli_expect(0, "general");
    cli_expect_without("not run:");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "unseen", "skipped"), 0);
    ck_assert_int_eq(cli_count(result, "unseen", "configs"), 6);
    json_decref(result);
    cli_put_kernel("far.c", "", "rows == 8 ? 0.25 : 0");
    CLI("verify", "softmax", "far.c", TINY, "--unseen", "6", "--fail-fast", "--tolerance", "published");
    cli_expect(1, "6: not run: --fail-fast after a failure");
    CLI("verify", "softmax", "near.c", TINY, "--unseen", "6", "--fail-fast");
    cli_expect(1, "not run: --fail-fast after a failure");
}
END_TEST

/* Three calls, the last with the inputs of the second. Where MPFR costs little it evaluates the worst element
 * of either draw and an audit of four. In long rows that are known to be wrong it evaluates that of the first
 * draw alone. */
START_TEST(mpfr_hears_a_failing_configuration_once_where_it_is_expensive)
{
    static const struct {
        const char *space, *seen;
        int witnessed;
    } rows[] = {{"rows 1..2\ncols 50..51\ninput normal\n", "rows=1 cols=50 input=normal\n", 4 + 2},
                {"rows 1..2\ncols 20000..20001\ninput normal\n", "rows=1 cols=20000 input=normal\n", 4 + 1}};
    cli_put("row.space", rows[_i].space);
    cli_put("row.seen", rows[_i].seen);
    cli_put_kernel("wrong.c", "", "0.25");
    CLI("verify", "softmax", "wrong.c", "--device", "host", "--contract", "row.space", "--seen", "row.seen",
        "--no-timing", "--no-explain", "--unseen", "2", "--json", "r.json");
    cli_expect(1, "broken");
    json_t *result = cli_json("r.json"), *config;
    size_t i;
    json_array_foreach(json_object_get(result, "results"), i, config)
    {
        ck_assert_int_eq(cli_count(config, "elements", "witnessed"), rows[_i].witnessed);
        ck_assert_str_eq(json_string_value(json_object_get(config, "outcome")), "wrong");
    }
    ck_assert_uint_eq(json_array_size(json_object_get(result, "results")), 3);
    json_decref(result);
}
END_TEST

TCase *cli_run_case(void)
{
    TCase *run = tcase_create("run");
    tcase_add_checked_fixture(run, cli_setup, cli_teardown);
    tcase_set_timeout(run, 60);
    tcase_add_test(run, an_honest_candidate_is_general_with_status_0);
    tcase_add_test(run, a_shape_table_is_specialized_with_status_1_and_its_reproduction_reproduces);
    tcase_add_test(run, an_honest_refusal_is_limited_with_status_1);
    tcase_add_test(run, check_passes_with_status_0_and_shows_a_wrong_element_with_status_1);
    tcase_add_test(run, without_unseen_configurations_the_verdict_is_inconclusive);
    tcase_add_test(run, quiet_prints_the_verdict_and_nothing_else);
    tcase_add_test(run, verbose_prints_a_line_for_every_configuration_and_where_the_time_went);
    tcase_add_test(run, in_a_pipe_there_are_no_escapes_and_no_progress_line);
    tcase_add_test(run, the_published_tolerance_decides_when_asked_and_both_are_told);
    tcase_add_test(run, a_tolerance_of_the_users_is_judged_beside_ours_and_never_decides);
    tcase_add_test(run, a_tolerance_that_is_none_is_refused_with_its_line);
    tcase_add_test(run, without_timing_nothing_is_timed_and_with_it_everything_is);
    tcase_add_test(run, a_narrower_contract_leaves_published_configurations_out_with_a_note);
    tcase_add_test(run, several_jobs_judge_the_same_sets);
    tcase_add_test(run, fail_fast_stops_at_the_first_failure_and_skips_the_rest);
    tcase_add_test(run, fail_fast_does_not_stop_at_refusals_or_skipped_configurations);
    tcase_add_loop_test(run, mpfr_hears_a_failing_configuration_once_where_it_is_expensive, 0, 2);
    tcase_add_test(run, fail_fast_with_the_published_tolerance_stops_where_that_fails);
    return run;
}
