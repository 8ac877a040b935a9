/* Rewards, scores and the history as users meet them. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 10, PATIENCE_STEPS = 2000 };

/* One line on standard output, whatever the status. */
static void expect_line(int status, const char *line)
{
    ck_assert_msg(cli.status == status, "%d\n%s%s", cli.status, cli.out, cli.err);
    ck_assert_str_eq(cli.out, line);
}

START_TEST(a_reward_is_one_line_and_the_status_is_that_of_verify)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "1");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "3", "--reward", "pass_rate");
    expect_line(0, "1 pass_rate: 3 of 3 unseen configurations pass\n");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "3", "--no-explain", "--reward", "fast_0@seen");
    expect_line(1, "0 fast_0@seen: 0 of 2 seen configurations pass\n");
    cli_put("rewards", "pass 1\nwrong -2\ncompile -5\nother -6\n");
    cli_put("broken.c", "int softmax(\n");
    CLI("verify", "softmax", "broken.c", TINY, "--reward", "table", "--reward-table", "rewards");
    expect_line(2, "-5 table: the candidate does not compile\n");
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "3", "--no-explain", "--reward", "table",
        "--reward-table", "rewards");
    expect_line(1, "-2 table: over 3 unseen configurations, of which 0 pass\n");
}
END_TEST

START_TEST(a_reward_that_cannot_come_out_is_refused_before_the_run)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--reward", "nosuch");
    cli_expect_error(2, "--reward 'nosuch'", "expected one of score, pass_rate, aka_points",
                     "--reward score");
    CLI("verify", "softmax", "right.c", TINY, "--reward", "score");
    cli_expect_error(2, "made of times", "expected a run that takes them", "--no-timing");
    CLI("verify", "softmax", "right.c", TINY, "--reward", "conditional");
    cli_expect_error(2, "compares with a baseline", "expected one", "--baseline own");
    CLI("verify", "softmax", "right.c", TINY, "--reward", "table");
    cli_expect_error(2, "--reward table", "expected the table", "--reward-table FILE");
    cli_put("rewards", "pass 1\nwrogn -2\n");
    CLI("verify", "softmax", "right.c", TINY, "--reward", "table", "--reward-table", "rewards");
    cli_expect_error(2, "rewards:2: 'wrogn'", "expected", "doc/formats.md");
}
END_TEST

/* The baseline is judged, too, where the candidate ran. */
START_TEST(quadrants_say_who_passes_where)
{
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "1");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "3", "--baseline", "wrong.c", "--scores", "--json",
        "r.json");
    cli_expect(0, "conditional correctness");
    json_t *result = cli_json("r.json"), *scores = json_object_get(result, "scores");
    const json_t *unseen = json_object_get(scores, "unseen"),
                 *quadrants = json_object_get(unseen, "quadrants");
    ck_assert_int_eq(json_integer_value(json_object_get(quadrants, "improvement")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(quadrants, "unknown")), 0);
    const json_t *conditional = json_object_get(unseen, "conditional");
    ck_assert_str_eq(json_string_value(json_object_get(conditional, "state")), "none");
    ck_assert(json_is_null(json_object_get(conditional, "value")));
    json_decref(result);
    CLI("verify", "softmax", "wrong.c", TINY, "--unseen", "3", "--baseline", "own", "--no-explain",
        "--reward", "conditional");
    expect_line(1, "0 conditional: passes 0 of the 3 unseen configurations that the baseline passes\n");
}
END_TEST

START_TEST(a_verdict_is_kept_listed_and_drawn)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "2", "--db", "runs.db", "--json", "r.json", "-q");
    cli_expect(0, "general");
    CLI("history", "--db", "runs.db", "--import", "r.json");
    cli_expect(0, "was there already");
    CLI("history", "right.c", "--db", "runs.db");
    cli_expect(0, "general");
    CLI("history", "softmax", "--db", "runs.db", "--json", "-", "--plot", "runs.svg");
    ck_assert_msg(cli.status == 0, "%s", cli.err);
    json_t *runs = json_loads(cli.out, 0, NULL);
    ck_assert_int_eq(json_array_size(json_object_get(runs, "runs")), 1);
    json_decref(runs);
    ck_assert_int_eq(access("runs.svg", R_OK), 0);
    CLI("history", "nosuch", "--db", "runs.db");
    cli_expect_error(2, "no run of 'nosuch'", "expected a problem", "lists all");
    CLI("history");
    cli_expect_error(2, "no database", "expected --db FILE", "verify --db");
    CLI("verify", "softmax", "right.c", TINY, "--db", "r.json");
    cli_expect_error(2, "r.json: is not a database", "expected one of", "another path");
    CLI("verify", "softmax", "right.c", TINY, "--db", "./right.c");
    cli_expect_error(2, "./right.c: is not a database", "expected one of", "another path");
    CLI("verify", "softmax", "right.c", TINY, "--db", "same", "--json", "same");
    cli_expect_error(2, "same is the database", "expected a file of its own", "another path");
}
END_TEST

/* The database is removed during the run, and a folder takes its place. */
START_TEST(a_verdict_that_cannot_be_kept_is_printed)
{
    cli_put_kernel("slow.c", "static int calls; if (calls++ < 2) usleep(200000);", "0");
    const pid_t pid =
        CLI_START("verify", "softmax", "slow.c", TINY, "--unseen", "2", "--db", "runs.db", "-q");
    for (int i = 0; i < PATIENCE_STEPS && access("runs.db", F_OK) != 0; i++)
        nanosleep(&(const struct timespec){0, STEP_MS * 1000000L}, NULL);
    nanosleep(&(const struct timespec){0, 10 * STEP_MS * 1000000L}, NULL); /* its row is being written */
    ck_assert_int_eq(rename("runs.db", "away.db"), 0);
    ck_assert_int_eq(mkdir("runs.db", 0700), 0);
    cli_wait(pid);
    ck_assert_int_eq(cli.status, 3);
    ck_assert_str_eq(cli.out, "general\n");
    ck_assert_msg(strstr(cli.err, "runs.db: is a directory"), "%s", cli.err);
}
END_TEST

TCase *cli_scores_case(void)
{
    TCase *tcase = tcase_create("scores");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_reward_is_one_line_and_the_status_is_that_of_verify);
    tcase_add_test(tcase, a_reward_that_cannot_come_out_is_refused_before_the_run);
    tcase_add_test(tcase, quadrants_say_who_passes_where);
    tcase_add_test(tcase, a_verdict_is_kept_listed_and_drawn);
    tcase_add_test(tcase, a_verdict_that_cannot_be_kept_is_printed);
    return tcase;
}
