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

/* A timeout is waited for twice: once beside others, and once alone. Either everything hangs, or a part hangs
 * and more is wrong. */
static const struct {
    const char *when, *wrong, *verdict;
    int hangs;
} hanging[] = {{"1", "0", "broken: ", 2}, {"cols < 50", "cols < 50 ? 0 : 0.25", "broken: ", 2}};

START_TEST(what_hangs_is_waited_for_twice)
{
    put_hanging(hanging[_i].when, hanging[_i].wrong);
    CLI("verify", "softmax", "hang.c", TINY, "--unseen", "9", "--seed", "1", "--timeout", "0.2", "--json",
        "r.json", "-v", "--no-explain");
    ck_assert_int_eq(count_hangs(), hanging[_i].hangs);
    cli_expect(1, hanging[_i].verdict);
    cli_expect(1, "again when it ran alone, within 0.2 s");
    cli_expect(1, "not run: another had already timed out twice");
    json_t *result = cli_json("r.json");
    ck_assert_int_eq(cli_count(result, "seen", "timeout") + cli_count(result, "unseen", "timeout"), 1);
    ck_assert_int_gt(cli_count(result, "unseen", "skipped"), 0);
    json_decref(result);
    ck_assert(!cli_has_children());
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
    tcase_add_loop_test(tests, what_hangs_is_waited_for_twice, 0, sizeof hanging / sizeof *hanging);
    tcase_add_loop_test(tests, what_only_ends_its_process_is_not_run_to_the_end, 0, 2);
    tcase_add_test(tests, a_constructor_that_sleeps_is_waited_for_twice);
    tcase_add_test(tests, a_candidate_that_holds_too_much_is_told_so);
    tcase_add_test(tests, what_the_budget_leaves_out_is_skipped_and_the_verdict_not_general);
    tcase_add_test(tests, a_budget_that_ends_before_the_times_are_taken_makes_the_verdict_inconclusive);
    return tests;
}
