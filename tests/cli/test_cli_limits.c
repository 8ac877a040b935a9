/* The limits of a candidate's time and memory, and the verdict on one that uses more. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/device/lease.h"
#include "verify/util/clock.h"

/* The n-th result's word for `key`. */
static const char *of_result(const json_t *result, size_t n, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(result, "results"), n), key));
}

/* --- hangs --- */

/* A kernel that hangs where `when` holds and is wrong where `wrong` does. It writes into a file each time
 * that it hangs. Files can be written without the sandbox only. */
static void put_hanging(const char *when, const char *wrong)
{
    char hook[400], folder[200];
    ck_assert(getcwd(folder, sizeof folder) != NULL);
    snprintf(hook, sizeof hook,
             "if (%s) { FILE *f = fopen(\"%s/hangs\", \"a\"); fputc('x', f); fclose(f); for (;;) pause(); }",
             when, folder);
    cli_put_kernel("hang.c", hook, wrong);
    unlink("hangs");
    setenv("UNSEEN_NO_SANDBOX", "1", 1);
}

static int count_hangs(void)
{
    struct stat status;
    unsetenv("UNSEEN_NO_SANDBOX");
    ck_assert_int_eq(stat("hangs", &status), 0);
    return (int)status.st_size;
}

static int count_both(const json_t *result, const char *key)
{
    return cli_count(result, "seen", key) + cli_count(result, "unseen", key);
}

/* The first timeout is waited for twice: once beside others, and once alone. The others are waited for once.
 * Either everything hangs, which ends the run, or a part hangs and more is wrong. */
static const struct {
    const char *when, *wrong;
    int timeouts, wrongs, skipped;
} hanging[] = {{"1", "0", 4, 0, 7}, {"cols == 64 || cols % 2 == 1", "0.25", 8, 3, 0}};

START_TEST(what_hangs_is_waited_for_twice_at_first)
{
    put_hanging(hanging[_i].when, hanging[_i].wrong);
    CLI("verify", "softmax", "hang.c", TINY, "--unseen", "9", "--seed", "1", "--timeout", "0.2", "--json",
        "r.json", "-v", "--no-explain");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(count_both(result, "timeout"), hanging[_i].timeouts);
    ck_assert_int_eq(count_both(result, "wrong"), hanging[_i].wrongs);
    ck_assert_int_eq(count_both(result, "skipped"), hanging[_i].skipped);
    const int hangs = count_hangs();
    ck_assert_int_gt(hangs, hanging[_i].timeouts);
    ck_assert_int_lt(hangs, 3 * hanging[_i].timeouts / 2 + 1); /* a disturbed baseline asks for repetitions */
    cli_expect(1, "broken: ");
    cli_expect(1, "again when it ran alone, within 0.2 s");
    if (hanging[_i].skipped > 0)
        cli_expect(1, "7: not run: 4 others had already timed out, and none had ended in time");
    json_decref(result);
    ck_assert(!cli_has_children());
}
END_TEST

static void expect_smallest(const json_t *result, const char *line, const char *detail)
{
    const json_t *const minimal = json_object_get(json_object_get(result, "diagnosis"), "minimal");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(result, "minimal")), line));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(minimal, "detail")), detail));
}

/* The others are judged, and the rule is exact. */
START_TEST(what_hangs_on_some_configurations_is_judged_on_the_others)
{
    cli_put_kernel("hang.c", "if (cols % 64 == 33) for (;;) pause();", "0");
    const double start = clock_seconds();
    CLI("verify", "softmax", "hang.c", TINY, "--unseen", "60", "--seed", "1", "--timeout", "0.4", "--json",
        "r.json", "--no-timing");
    ck_assert_double_lt(clock_seconds() - start, 50); /* 60 times 0.25 s to explain */
    json_t *result = cli_json("r.json");
    const int timeouts = cli_count(result, "unseen", "timeout");
    ck_assert_int_gt(timeouts, 1);
    ck_assert_int_eq(count_both(result, "pass"), 62 - timeouts);
    cli_expect(1, "specialized: it passes 2 of 2");
    cli_expect(1, "It does not end in time when cols % 64 == 33.");
    cli_expect(1, "2 configurations timed out; 1.2 of 120 s for timeouts were spent");
    expect_smallest(result, "rows=1 cols=33 input=normal seed=1", "no answer within 0.4 s");
    json_decref(result);
    ck_assert(!cli_has_children());
}
END_TEST

START_TEST(a_hang_beside_another_failure_has_a_rule_of_its_own)
{
    cli_put_kernel("both.c", "if (cols % 32 == 1) for (;;) pause();",
                   "rows * cols % 5 == 2 && cols > 20 ? 0.1 : 0");
    CLI("verify", "softmax", "both.c", TINY, "--unseen", "60", "--seed", "1", "--timeout", "0.4", "--effort",
        "quick", "--no-timing");
    cli_expect(1, "It always fails when cols % 32 == 1 (");
    cli_expect(1, " x wrong: when rows*cols % 5 == 2 and cols > 20 (");
    cli_expect(1, " x timeout: when cols % 32 == 1 (");
    const char *const note = strstr(cli.out, "the rule of the hangs comes from");
    ck_assert_ptr_nonnull(note);
    ck_assert_ptr_null(strstr(note + 1, "the rule of the hangs comes from"));
}
END_TEST

/* A third of --budget is for timeouts: 1.4 s for the first, 0.7 s for the next, then half a second each. */
START_TEST(once_half_the_budget_is_spent_timeouts_are_cut_short_and_accuse_nobody)
{
    cli_put_kernel("hang.c", "if (cols % 2 == 1) for (;;) pause();", "0");
    CLI("verify", "softmax", "hang.c", TINY, "--unseen", "60", "--seed", "1", "--timeout", "0.7", "--budget",
        "15", "--json", "r.json", "--no-explain", "--no-timing");
    cli_expect(1, "5: no answer within 0.5 s; others had timed out, so that longer was not waited for");
    cli_expect(1, "2 configurations timed out, 5 more did not end within 0.5 s; 4.6 of 5 s for timeouts");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "unseen", "timeout"), 2);
    ck_assert_int_gt(cli_count(result, "unseen", "pass"), 5);
    ck_assert(!json_is_true(json_object_get(result, "partial")));
    json_decref(result);
}
END_TEST

/* Shrinking waits for a fraction of --timeout, in which this kernel does not end at cols == 1. */
START_TEST(the_smallest_hang_is_confirmed_within_the_whole_limit)
{
    cli_put_kernel("slow.c", "if (cols == 1) usleep(400000); else if (cols % 8 == 1) for (;;) pause();", "0");
    CLI("verify", "softmax", "slow.c", TINY, "--unseen", "60", "--seed", "1", "--timeout", "1", "--json",
        "r.json", "--no-timing");
    cli_expect(1, "smaller configurations take more than 0.25 s and end within --timeout");
    json_t *result = cli_json("r.json");
    expect_smallest(result, "", "no answer within 1 s");
    ck_assert_ptr_null(strstr(json_string_value(json_object_get(result, "minimal")), "cols=1 "));
    json_decref(result);
}
END_TEST

START_TEST(a_constructor_that_sleeps_is_waited_for_twice)
{
    cli_put("ctor.c", "#include <unistd.h>\n"
                      "__attribute__((constructor)) static void begin(void) { sleep(1000); }\n"
                      "int softmax(void) { return 0; }\n");
    const double start = clock_seconds();
    CLI("verify", "softmax", "ctor.c", TINY, "--unseen", "9", "--timeout", "0.05");
    ck_assert_double_lt(clock_seconds() - start, 10); /* twice 0.25 s, on an idle machine */
    cli_expect(1, "broken: it fails on 1 of 2");
    cli_expect(1, "while it was being loaded: no answer within 0.25 s");
    cli_expect(1, "10: not run: another had already timed out twice");
}
END_TEST

/* --- memory --- */

START_TEST(a_candidate_that_holds_too_much_is_told_so)
{
    cli_put_kernel("eats.c",
                   "char *p = malloc(1 << 30); for (int i = 0; p && i < 1 << 30; i += 4096) p[i] = 1;", "0");
    CLI("verify", "softmax", "eats.c", TINY, "--unseen", "9", "--memory", "64M", "--json", "r.json");
    cli_expect(1, "broken: it fails on 2 of 2");
    cli_expect(1, "of main memory or more; --memory allows 64 MiB");
    cli_expect(1, "9: not run: 2 configurations before it had already held more than it may");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "exceeded"), 2);
    ck_assert_str_eq(of_result(result, 0, "outcome"), "exceeded");
    ck_assert_ptr_nonnull(strstr(of_result(result, 0, "detail"), "--memory allows 64 MiB"));
    ck_assert_int_eq(json_real_value(json_object_get(json_object_get(result, "limits"), "memory")), 64 << 20);
    json_decref(result);
    const char *const command = strstr(cli.out, "\n  unseen check ");
    ck_assert_ptr_nonnull(command);
    ck_assert_ptr_nonnull(strstr(command, " --memory 64M\n"));
}
END_TEST

/* --- the budget --- */

/* Compiled before, since a budget counts compilation, too. */
static void put_object(const char *hook)
{
    cli_put_kernel("slow.c", hook, "0");
    ck_assert_int_eq(system("cc -O1 -shared -fPIC -o slow.so slow.c -lm"), 0);
}

START_TEST(what_the_budget_leaves_out_is_skipped_and_the_verdict_not_general)
{
    put_object("if (cols != 64 && cols != 256) sleep(15);");
    const double start = clock_seconds();
    CLI("verify", "softmax", "slow.so", TINY, "--unseen", "9", "--budget", "1", "--json", "r.json");
    ck_assert_double_lt(clock_seconds() - start, 10);
    cli_expect(1, "inconclusive: the run was cut off (--budget of 1 s was over: 9 not run) after 2 of 11");
    cli_expect(1, "9: not run to its end: --budget of 1 s was over");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "pass"), 2);
    ck_assert_int_eq(cli_count(result, "unseen", "skipped"), 9);
    ck_assert(json_is_true(json_object_get(result, "partial")));
    json_decref(result);
    ck_assert(!cli_has_children());
}
END_TEST

/* Another process has the lease of the device all the time. */
START_TEST(a_budget_that_ends_before_the_times_are_taken_makes_the_verdict_inconclusive)
{
    char why[400];
    const struct lease_options options = {.device = "host"};
    put_object("");
    struct lease *held = lease_open(&options, why, sizeof why);
    ck_assert_msg(held && lease_take(held), "%s", why);
    CLI("verify", "softmax", "slow.so", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",
        "--unseen", "1", "--budget", "1");
    lease_close(held);
    cli_expect(1, "inconclusive: the run was cut off (--budget of 1 s was over: 3 not timed) after 3 of 3");
}
END_TEST

/* Nothing passes, and each costs a process: the others are left out. If one passes, none is left out. */
START_TEST(what_only_ends_its_process_is_not_run_to_the_end)
{
    enum { ENOUGH = 128, MORE = 150 };
    cli_put_kernel("ends.c", _i == 0 ? "abort();" : "if (rows != 2) abort();", "0");
    CLI("verify", "softmax", "ends.c", TINY, "--unseen", "150", "--small", "0", "--jobs", _i == 0 ? "2" : "1",
        "--seed", "1", "--no-explain", "--json", "r.json");
    json_t *result = cli_json("r.json");
    const int ends = cli_count(result, "seen", "crash") + cli_count(result, "unseen", "crash");
    const int skipped = cli_count(result, "unseen", "skipped");
    ck_assert_int_eq(_i == 0 ? ends == ENOUGH : ends > ENOUGH, 1);
    ck_assert_int_eq(_i == 0 ? skipped > MORE - ENOUGH : skipped == 0, 1);
    if (_i == 0)
        ck_assert_str_eq(
            of_result(result, MORE, "detail"),
            "not run: 128 configurations before it had ended the candidate's process, and none had passed");
    json_decref(result);
}
END_TEST

TCase *cli_limits_case(void)
{
    TCase *tests = tcase_create("limits");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, what_hangs_is_waited_for_twice_at_first, 0, sizeof hanging / sizeof *hanging);
    tcase_add_test(tests, what_hangs_on_some_configurations_is_judged_on_the_others);
    tcase_add_test(tests, a_hang_beside_another_failure_has_a_rule_of_its_own);
    tcase_add_test(tests, once_half_the_budget_is_spent_timeouts_are_cut_short_and_accuse_nobody);
    tcase_add_test(tests, the_smallest_hang_is_confirmed_within_the_whole_limit);
    tcase_add_loop_test(tests, what_only_ends_its_process_is_not_run_to_the_end, 0, 2);
    tcase_add_test(tests, a_constructor_that_sleeps_is_waited_for_twice);
    tcase_add_test(tests, a_candidate_that_holds_too_much_is_told_so);
    tcase_add_test(tests, what_the_budget_leaves_out_is_skipped_and_the_verdict_not_general);
    tcase_add_test(tests, a_budget_that_ends_before_the_times_are_taken_makes_the_verdict_inconclusive);
    return tests;
}
