/* unseen compare: candidates, stored results, a result of another day, and results that cannot be
 * compared. */
#include "cli.h"
#include "share.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FEW TINY, "--seed", "3", "--unseen", "1"
/* One configuration: its times come from thirteen processes at least. */
static void put_one(void)
{
    cli_put("one.seen", "rows=4 cols=256 input=normal\n");
}

#define TIMED                                                                                                \
    "--device", "host", "--contract", "tiny.space", "--seen", "one.seen", "--seed", "3", "--unseen", "0",    \
        "--no-lock"

START_TEST(a_configuration_that_is_lost_is_a_regression)
{
    cli_put_kernel("old.c", "", "0");
    cli_put_kernel("new.c", "", "rows == 4 && cols == 256 ? 1 : 0");
    CLI("compare", "softmax", "old.c", "new.c", FEW, "--json", "c.json");
    cli_expect(1, "regression: 1 configuration is no longer right");
    cli_expect(1, "lost        rows=4 cols=256 input=normal seed=");
    cli_expect(1, "outcomes on the same inputs; no times are taken");
    cli_expect_without("timed now");
    json_t *root = cli_json("c.json");
    ck_assert_str_eq(json_string_value(json_object_get(root, "gate")), "regression");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "outcomes"), "lost")), 1);
    json_decref(root);
    CLI("compare", "softmax", "new.c", "old.c", FEW);
    cli_expect(0, "passed: no configuration is worse; none was timed, 1 right that were not");
}
END_TEST

static double seconds_of(const char *file)
{
    json_t *root = cli_json(file);
    const double seconds = json_number_value(json_object_get(root, "seconds"));
    json_decref(root);
    return seconds;
}

/* A sleep is as long on a busy machine as on a quiet one. */
START_TEST(the_old_kernel_is_checked_once)
{
    SHARE_TEST(1, 2);
    cli_put_kernel("old.c", "usleep(300000);", "0");
    cli_put_kernel("new.c", "", "0");
    CLI("verify", "softmax", "old.c", FEW, "--json", "one.json");
    cli_expect(0, "general");
    CLI("compare", "softmax", "old.c", "new.c", FEW, "--json", "both.json");
    cli_expect(0, "passed: ");
    ck_assert_double_lt(seconds_of("both.json"), 1.7 * seconds_of("one.json"));
}
END_TEST

/* Slower by more than any load can hide. */
static void put_slow(const char *name)
{
    cli_put_kernel(name,
                   "for (int again = 0; again < 40; again++) for (int64_t i = 0; i < rows * cols; i++) "
                   "y[i] = expf(x[i]) + again;",
                   "0");
}

START_TEST(a_kernel_that_takes_longer_is_slower)
{
    put_one();
    cli_put_kernel("old.c", "", "0");
    put_slow("new.c");
    CLI("compare", "softmax", "old.c", "new.c", TIMED, "--no-explain", "--json", "c.json");
    cli_expect(1, "regression: ");
    cli_expect(1, "1 of 1 timed configurations slower");
    json_t *root = cli_json("c.json");
    const json_t *item = json_array_get(json_object_get(root, "configurations"), 0);
    const json_t *time = json_object_get(json_object_get(item, "speed"), "time");
    ck_assert_double_gt(json_number_value(json_object_get(time, "low")), 1.02);
    json_decref(root);
}
END_TEST

/* Its time follows its first input, by factors up to 148. The ratio is 3 in each pair only where both had the
 * same input. */
START_TEST(both_calls_of_a_pair_are_on_the_same_content)
{
    SHARE_TEST(1, 2);
    static const char wait[] = "volatile double w = 0; "
                               "for (long n = %d * exp(fmin(fmax(4 * x[0], 0), 5)); n > 0; n--) w += 1;";
    char hook[200];
    put_one();
    snprintf(hook, sizeof hook, wait, 30000);
    cli_put_kernel("old.c", hook, "0");
    snprintf(hook, sizeof hook, wait, 90000);
    cli_put_kernel("new.c", hook, "0");
    CLI("compare", "softmax", "old.c", "new.c", TIMED, "--no-explain", "--json", "c.json");
    json_t *root = cli_json("c.json");
    const json_t *item = json_array_get(json_object_get(root, "configurations"), 0);
    const json_t *time = json_object_get(json_object_get(item, "speed"), "time");
    ck_assert_double_gt(json_number_value(json_object_get(time, "low")), 2);
    ck_assert_double_lt(json_number_value(json_object_get(time, "high")), 4);
    json_decref(root);
}
END_TEST

START_TEST(stored_results_are_compared_line_by_line)
{
    cli_put_kernel("old.c", "", "0");
    cli_put_kernel("bad.c", "", "rows == 4 && cols == 256 ? 1 : 0");
    CLI("verify", "softmax", "old.c", FEW, "--json", "a.json");
    CLI("verify", "softmax", "bad.c", FEW, "--no-explain", "--json", "b.json");
    CLI("compare", "a.json", "b.json");
    cli_expect(1, "regression: 1 configuration is no longer right");
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        execlp("cp", "cp", "b.json", "pipe", NULL);
        _exit(127);
    }
    CLI("compare", "pipe", "a.json"); /* a pipe gives its result once */
    waitpid(writer, NULL, 0);
    cli_expect(0, "passed: ");
    CLI("verify", "softmax", "old.c", TINY, "--seed", "4", "--unseen", "1", "--json", "d.json");
    CLI("compare", "a.json", "d.json");
    cli_expect_error(2, "have no configuration in common", "expected results of one set", "--seed");
}
END_TEST

START_TEST(a_result_of_another_day_needs_the_problems_baseline)
{
    put_one();
    cli_put_kernel("old.c", "", "0");
    put_slow("new.c");
    CLI("verify", "softmax", "old.c", TIMED, "--baseline", "own", "--json", "a.json");
    json_t *root = cli_json("a.json");
    ck_assert(json_is_true(json_object_get(json_object_get(root, "baseline"), "own")));
    json_decref(root);
    CLI("compare", "softmax", "new.c", "--against", "a.json", "--device", "host", "--contract", "tiny.space",
        "--no-lock");
    cli_expect(1, "each held against the problem's own baseline");
    cli_expect(1, "regression: ");
    CLI("verify", "softmax", "old.c", FEW, "--json", "b.json");
    CLI("compare", "softmax", "new.c", "--against", "b.json", "--device", "host", "--contract", "tiny.space");
    cli_expect_error(2, "b.json has no times of the problem's own baseline", "expected some",
                     "--baseline own");
    CLI("compare", "softmax", "new.c", "--against", "a.json", "--device", "host", "--seed", "1");
    cli_expect_error(2, "--seed beside --against", "configurations are those of a.json", "leave it out");
}
END_TEST

START_TEST(without_times_the_header_promises_none)
{
    cli_put_kernel("old.c", "", "0");
    cli_put_kernel("new.c", ";", "0");
    CLI("compare", "softmax", "old.c", "new.c", FEW);
    cli_expect(0, "outcomes on the same inputs; no times are taken (--no-timing)");
    cli_expect_without("in turns");
}
END_TEST

START_TEST(what_cannot_be_compared_is_said)
{
    cli_put_kernel("old.c", "", "0");
    cli_put("broken.c", "int softmax(");
    CLI("verify", "softmax", "old.c", FEW, "--json", "a.json");
    CLI("compare", "a.json", "a.json");
    cli_expect_error(2, "are the same result", "expected two", "name the old result");
    CLI("compare", "a.json", "nosuch.json");
    ck_assert_int_eq(cli.status, 2);
    ck_assert_ptr_nonnull(strstr(cli.err, "nosuch.json"));
    CLI("compare", "softmax", "broken.c", "old.c", FEW, "--json", "old.c");
    cli_expect_error(2, "--json old.c is what is compared", "expected a file of its own", "another path");
    CLI("compare", "softmax", "old.c", "old.c", FEW, "--json", "nosuch/c.json");
    cli_expect_error(3, "nosuch/c.json", "No such file or directory", "create the directory");
    CLI("compare", "softmax", "a.json");
    cli_expect_error(2, "found 2 arguments", "expected PROBLEM OLD NEW", "--help");
    CLI("compare", "softmax", "old.c", "broken.c", FEW);
    ck_assert_int_eq(cli.status, 2);
    ck_assert_ptr_nonnull(strstr(cli.err, "broken.c"));
    CLI("compare", "rms_norm", "old.c", "--against", "a.json", "--device", "host");
    cli_expect_error(2, "a.json is a result of softmax, and this run one of rms_norm", "expected two results",
                     "compare");
    cli_put("new_schema.json", "{\"schema\": 99}\n");
    CLI("compare", "a.json", "new_schema.json");
    ck_assert_int_eq(cli.status, 2);
    ck_assert_ptr_nonnull(strstr(cli.err, "99"));
}
END_TEST

TCase *cli_compare_case(void)
{
    TCase *tcase = tcase_create("compare");
    tcase_set_timeout(tcase, 180);
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_add_test(tcase, a_configuration_that_is_lost_is_a_regression);
    tcase_add_test(tcase, the_old_kernel_is_checked_once);
    tcase_add_test(tcase, a_kernel_that_takes_longer_is_slower);
    tcase_add_test(tcase, both_calls_of_a_pair_are_on_the_same_content);
    tcase_add_test(tcase, stored_results_are_compared_line_by_line);
    tcase_add_test(tcase, a_result_of_another_day_needs_the_problems_baseline);
    tcase_add_test(tcase, without_times_the_header_promises_none);
    tcase_add_test(tcase, what_cannot_be_compared_is_said);
    return tcase;
}
