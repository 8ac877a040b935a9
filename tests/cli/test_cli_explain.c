/* unseen verify on a kernel that fails: the simplest configuration, where its output is wrong, and when. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const json_t *key(const json_t *root, const char *name)
{
    return json_object_get(root, name);
}

/* The published contract, without its long rows and large tensors, which take most of the time. */
static const char small_space[] = "rows 1..512 tile 1 4 32 128\n"
                                  "cols 1..8192 tile 32 128 256 1024 4096\n"
                                  "input normal integers wide needle special\n"
                                  "limit rows*cols <= 2^16\n";

/* 80 configurations as with less effort, but time for an explanation on a busy machine, too. */
static json_t *verify_file(const char *problem, const char *file, const char *more, const char *value)
{
    cli_put("small.space", small_space);
    cli_put("small.seen", "rows=16 cols=4096 input=normal\nrows=32 cols=1024 input=normal\n");
    CLI("verify", "-v", problem, file, "--device", "host", "--no-timing", "--seed", "3", "--contract",
        "small.space", "--seen", "small.seen", "--unseen", "80", "--effort", "standard", "--json", "r.json",
        more, value);
    return cli_json("r.json");
}

static json_t *verify(const char *problem, const char *kernel, const char *more, const char *value)
{
    return verify_file(problem, cli_repository(kernel), more, value);
}

START_TEST(a_failing_kernel_gets_its_rule_and_its_simplest_configuration)
{
    cli_put_kernel("tail.c", "", "cols % 256 != 0 ? 0.25 : 0");
    json_t *root = verify_file("softmax", "tail.c", NULL, NULL);
    const json_t *rule = key(root, "rule"), *diagnosis = key(root, "diagnosis");
    ck_assert_str_eq(json_string_value(key(rule, "text")), "cols % 256 != 0");
    ck_assert_double_gt(json_number_value(key(rule, "precision")), 0.8);
    ck_assert_int_gt(json_integer_value(key(key(rule, "confirmed"), "fails")), 5);
    ck_assert_str_eq(json_string_value(key(root, "minimal")), "rows=1 cols=1 input=normal seed=1");
    ck_assert_str_eq(json_string_value(key(diagnosis, "pattern")), "all elements");
    ck_assert(json_is_true(key(diagnosis, "locally_minimal")));
    cli_expect(1, "wrong whenever cols % 256 != 0 (");
    cli_expect(1, "smallest    rows=1 cols=1 input=normal seed=1");
    json_decref(root);
}
END_TEST

/* A tail that is left out of a sum shows where it holds enough of the sum. So some runs that meet the
 * condition pass, and the rule says how many. */
START_TEST(a_tail_that_contents_hide_gets_its_rule)
{
    json_t *root = verify("softmax", "build/faults/softmax/dropped_tail.c", NULL, NULL);
    ck_assert_str_eq(json_string_value(key(key(root, "rule"), "text")), "cols % 256 != 0");
    ck_assert_double_lt(json_number_value(key(key(root, "rule"), "precision")), 1);
    ck_assert_double_eq(json_number_value(key(key(root, "rule"), "recall")), 1);
    cli_expect(1, " cols % 256 != 0 (");
    cli_expect(1, "smallest    rows=1 cols=1 input=normal seed=1");
    json_decref(root);
}
END_TEST

/* No rule of three terms has all three right. */
START_TEST(faults_of_several_kinds_get_a_rule_each)
{
    static const char *const rules[][2] = {{"wrong", "rows > 16 and cols % 64 != 0"},
                                           {"overrun", "rows >= 8 and cols % 10 == 3"},
                                           {"crash", "rows % 3 == 0 and cols > 300"}};
    cli_put_kernel(
        "three.c",
        "if (cols > 300 && rows % 3 == 0) abort(); if (rows >= 8 && cols % 10 == 3) y[rows * cols] = 1;",
        "cols % 64 != 0 && rows > 16 ? 0.5 : 0");
    CLI("verify", "softmax", "three.c", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",
        "--effort", "quick", "--seed", "3", "--no-timing", "--blind", "--json", "r.json");
    json_t *root = cli_json("r.json");
    const json_t *kinds = key(key(root, "diagnosis"), "kinds"), *kind;
    size_t i;
    ck_assert_uint_eq(json_array_size(kinds), 3);
    json_array_foreach(kinds, i, kind)
    {
        ck_assert_str_eq(json_string_value(key(kind, "outcome")), rules[i][0]);
        ck_assert_str_eq(json_string_value(key(key(kind, "rule"), "text")), rules[i][1]);
        ck_assert_int_ge(json_integer_value(key(kind, "failures")), 3);
    }
    cli_expect(1, " x crash: when rows % 3 == 0 and cols > 300 (");
    json_decref(root);
}
END_TEST

START_TEST(refusals_beside_failures_get_a_rule)
{
    cli_put_kernel("both.c", "if (cols % 8 == 5) return 1;", "rows > 16 ? 0.5 : 0");
    CLI("verify", "softmax", "both.c", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",
        "--effort", "quick", "--seed", "3", "--no-timing", "--json", "r.json");
    json_t *root = cli_json("r.json");
    const json_t *kinds = key(key(root, "diagnosis"), "kinds"), *kind = json_array_get(kinds, 0);
    ck_assert_str_eq(json_string_value(key(key(root, "rule"), "text")), "rows > 16");
    ck_assert_uint_eq(json_array_size(kinds), 1);
    ck_assert_str_eq(json_string_value(key(kind, "outcome")), "refused");
    ck_assert_str_eq(json_string_value(key(key(kind, "rule"), "text")), "cols % 8 == 5");
    cli_expect(1, "It is wrong when rows > 16.");
    cli_expect(1, " x refused: when cols % 8 == 5 (");
    cli_expect(1, "fresh runs inside the rule are refused)");
    json_decref(root);
}
END_TEST

START_TEST(the_coverage_is_in_the_result)
{
    json_t *root = verify("softmax", "build/faults/softmax/dropped_tail.c", "--no-explain", NULL);
    const json_t *coverage = key(root, "coverage");
    ck_assert_int_eq(json_integer_value(key(coverage, "strength")), 2);
    ck_assert_int_gt(json_integer_value(key(coverage, "covered")), 100);
    ck_assert_int_ge(json_integer_value(key(coverage, "possible")),
                     json_integer_value(key(coverage, "covered")));
    ck_assert(json_is_null(key(root, "rule")) && json_is_null(key(root, "minimal")));
    ck_assert(json_is_null(key(root, "diagnosis")));
    cli_expect(1, "pairs covered ");
    json_decref(root);
}
END_TEST

START_TEST(a_kernel_that_refuses_is_told_when_it_refuses)
{
    json_t *root = verify("softmax", "problems/softmax/bad/refuses_odd.c", NULL, NULL);
    const json_t *rule = key(root, "rule");
    ck_assert(json_is_object(rule));
    ck_assert_msg(strstr(json_string_value(key(rule, "text")), "cols % 4 != 0") != NULL, "%s",
                  json_string_value(key(rule, "text")));
    cli_expect(1, "refused whenever ");
    json_decref(root);
}
END_TEST

START_TEST(the_wrong_elements_are_named_and_drawn)
{
    cli_put_kernel("last.c", "", "c == cols - 1 && cols > 3 ? 0.5 : 0");
    CLI("verify", "-v", "softmax", "last.c", TINY, "--seed", "3", "--unseen", "30", "--effort", "quick",
        "--json", "r.json");
    json_t *root = cli_json("r.json");
    const json_t *diagnosis = key(root, "diagnosis");
    ck_assert_str_eq(json_string_value(key(root, "minimal")), "rows=1 cols=4 input=normal seed=1");
    ck_assert_str_eq(json_string_value(key(diagnosis, "pattern")), "the last of 4 along cols");
    ck_assert_str_eq(json_string_value(json_array_get(key(diagnosis, "map"), 0)), "...#");
    cli_expect(1, "|...#|");
    json_decref(root);
}
END_TEST

/* A kernel that depends on the addresses of its tensors. */
START_TEST(where_first_calls_pass_it_says_which_calls_fail)
{
    static const char moved[] = "static const float *last; const int bad = last && last != x; last = x;";
    cli_put_kernel("moved.c", moved, "bad ? 0.5 : 0");
    CLI("verify", "-v", "softmax", "moved.c", TINY, "--seed", "3", "--unseen", "30", "--effort", "quick",
        "--json", "r.json");
    json_t *root = cli_json("r.json");
    const char *calls = json_string_value(key(key(root, "diagnosis"), "calls"));
    ck_assert_ptr_nonnull(calls);
    ck_assert_msg(strstr(calls, " with the same contents at other addresses") != NULL, "%s", calls);
    cli_expect(1, "no first call fails, but later ones do: ");
    json_decref(root);
    cli_put_kernel("always.c", "", "0.5");
    CLI("verify", "softmax", "always.c", TINY, "--seed", "3", "--unseen", "30", "--effort", "quick", "--json",
        "r.json");
    root = cli_json("r.json");
    ck_assert(json_is_null(key(key(root, "diagnosis"), "calls")));
    json_decref(root);
}
END_TEST

/* A failure at random has no rule, and the report says that it does not repeat. */
START_TEST(a_failure_that_comes_and_goes_is_called_so)
{
    cli_put_kernel("flaky.c", "static unsigned calls; const int bad = ++calls * 2654435761u >> 30 == 0;",
                   "bad ? 0.5 : 0");
    CLI("verify", "softmax", "flaky.c", TINY, "--seed", "3", "--unseen", "30", "--json", "r.json");
    json_t *root = cli_json("r.json");
    ck_assert(json_is_null(key(root, "rule")));
    const char *why = json_string_value(key(key(root, "diagnosis"), "no_rule"));
    ck_assert_ptr_nonnull(why);
    ck_assert_msg(strstr(why, "the same configuration fails in ") != NULL, "%s", why);
    ck_assert(json_is_null(key(key(root, "diagnosis"), "content")));
    json_decref(root);
}
END_TEST

/* The set's own failures do not show whether a failure repeats, so later runs are asked. Returns the reason
 * for the missing rule. */
static const char *no_rule(const char *hook)
{
    static char reason[400];
    cli_put_kernel("fading.c", hook, "bad ? 0.5 : 0");
    CLI("verify", "-v", "softmax", "fading.c", TINY, "--seed", "3", "--unseen", "30", "--json", "r.json");
    json_t *root = cli_json("r.json");
    const char *why = json_string_value(key(key(root, "diagnosis"), "no_rule"));
    ck_assert(json_is_null(key(root, "rule")) && why != NULL);
    ck_assert_int_eq(cli_count(root, "seen", "pass"), 0);
    ck_assert_int_le(cli_count(root, "unseen", "pass"), 2); /* extents met before, with other inputs */
    snprintf(reason, sizeof reason, "%s", why);
    json_decref(root);
    return reason;
}

/* Every process fails on extents that it meets for the first time, for the three calls of a configuration. */
START_TEST(the_failure_that_is_shrunk_is_run_again_before_it_is_believed)
{
    const char *why = no_rule("static char calls[64][1024];"
                              " const int bad = calls[rows % 64][cols % 1024]++ < 3;");
    static const char expected[] =
        "the same configuration fails in 1 of 4 runs: a race, memory that nobody set, "
        "or what calls before left";
    ck_assert_msg(strncmp(why, expected, sizeof expected - 1) == 0, "%s",
                  why); /* then the closest rule, maybe */
    cli_expect(1, "no rule: the same configuration fails in 1 of 4 runs");
}
END_TEST

/* All fail until the process has met the least configuration a third time. The set never does so, and
 * shrinking does. That configuration always fails, so that only running others again shows it. */
START_TEST(a_rule_is_sought_only_after_failures_were_run_again)
{
    int again, asked;
    const char *why = no_rule("static int least; least += rows * cols == 1;"
                              " const int bad = rows * cols == 1 || least < 7;");
    const int read = sscanf(why, "it does not repeat: run again, %d of %d failing", &again, &asked);
    ck_assert_msg(read == 2, "%s", why);
    ck_assert_int_ge(asked, 6);
    ck_assert_int_le(again, 2); /* the least one may be among the questions */
    cli_expect(1, why);
}
END_TEST

#define TIMED "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--effort", "quick"

/* Four calls of a configuration are right, and the later ones in the same process are not. */
START_TEST(what_fails_only_when_timed_is_shown_as_it_was_timed)
{
    static const char line[] = "rows=8 cols=64 input=normal seed=";
    cli_put_kernel("late.c",
                   "static int calls[64][1024]; const int bad = calls[rows % 64][cols % 1024]++ >= 4;",
                   "bad ? 0.5 : 0");
    CLI("verify", "softmax", "late.c", TIMED, "--unseen", "0", "--seed", "3", "--json", "r.json", "-v");
    cli_expect(1, "pass      seen    rows=8");
    cli_expect(1, "wrong     seen    rows=8");
    cli_expect(1, "no rule: 2 configurations passed the checks and failed in the timed calls only");
    cli_expect(1, " --timing --device host");
    json_t *root = cli_json("r.json");
    const char *minimal = json_string_value(key(root, "minimal"));
    const json_t *first = json_array_get(key(root, "results"), 0);
    ck_assert_msg(minimal && strncmp(minimal, line, sizeof line - 1) == 0, "%s", minimal);
    ck_assert_str_eq(json_string_value(key(first, "outcome")), "wrong");
    ck_assert_str_eq(json_string_value(key(first, "timed_config")), json_string_value(key(first, "config")));
    CLI("check", "softmax", "late.c", minimal, "--device", "host");
    cli_expect(0, "pass: ");
    CLI("check", "softmax", "late.c", minimal, "--device", "host", "--timing");
    cli_expect(1, "in a timed call (number ");
    json_decref(root);
}
END_TEST

/* A configuration of another input class can pass while its timed calls, on published inputs, are wrong. It
 * is no failure to shrink and no example for the rule: as it was drawn it passes. */
START_TEST(a_failure_on_the_inputs_of_timing_is_not_taken_for_a_race)
{
    cli_put_kernel("fractions.c", "const int bad = rows * cols > 8 && x[0] != floor(x[0]);", "bad ? 0.5 : 0");
    CLI("verify", "softmax", "fractions.c", TIMED, "--unseen", "40", "--seed", "3", "--json", "r.json");
    cli_expect_without("a race");
    json_t *root = cli_json("r.json"), *result;
    size_t i, timed = 0;
    json_array_foreach(key(root, "results"), i, result)
    {
        const char *config = json_string_value(key(result, "timed_config"));
        timed += config != NULL;
        ck_assert(!config || strstr(config, "input=normal"));
        ck_assert(!config || strstr(json_string_value(key(result, "config")), "input=integers"));
    }
    ck_assert_uint_gt(timed, 0);
    ck_assert(json_is_object(key(root, "rule")));
    json_decref(root);
}
END_TEST

START_TEST(a_check_tells_the_time_when_asked)
{
    CLI("check", "softmax", cli_repository("problems/softmax/baseline.c"), "rows=3 cols=200", "--device",
        "host");
    cli_expect(0, "pass: ");
    cli_expect_without("  time ");
    CLI("check", "softmax", cli_repository("problems/softmax/baseline.c"), "rows=3 cols=200", "--device",
        "host", "--timing");
    cli_expect(0, "  time       ");
    cli_expect(0, "  attainable ");
}
END_TEST

START_TEST(a_general_kernel_is_not_diagnosed)
{
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), TINY, "--unseen", "5", "--json",
        "r.json");
    json_t *root = cli_json("r.json");
    ck_assert(json_is_null(key(root, "diagnosis")) && json_is_null(key(root, "rule")));
    cli_expect_without("whenever");
    json_decref(root);
}
END_TEST

TCase *cli_explain_case(void)
{
    TCase *tests = tcase_create("explaining");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_failing_kernel_gets_its_rule_and_its_simplest_configuration);
    tcase_add_test(tests, a_tail_that_contents_hide_gets_its_rule);
    tcase_add_test(tests, faults_of_several_kinds_get_a_rule_each);
    tcase_add_test(tests, refusals_beside_failures_get_a_rule);
    tcase_add_test(tests, the_coverage_is_in_the_result);
    tcase_add_test(tests, a_kernel_that_refuses_is_told_when_it_refuses);
    tcase_add_test(tests, the_wrong_elements_are_named_and_drawn);
    tcase_add_test(tests, where_first_calls_pass_it_says_which_calls_fail);
    tcase_add_test(tests, a_failure_that_comes_and_goes_is_called_so);
    tcase_add_test(tests, the_failure_that_is_shrunk_is_run_again_before_it_is_believed);
    tcase_add_test(tests, a_rule_is_sought_only_after_failures_were_run_again);
    tcase_add_test(tests, what_fails_only_when_timed_is_shown_as_it_was_timed);
    tcase_add_test(tests, a_failure_on_the_inputs_of_timing_is_not_taken_for_a_race);
    tcase_add_test(tests, a_check_tells_the_time_when_asked);
    tcase_add_test(tests, a_general_kernel_is_not_diagnosed);
    return tests;
}
