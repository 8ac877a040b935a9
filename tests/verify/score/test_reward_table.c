/* Tables of rewards: their values, worked out by hand, and the faults of wrong ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scores_record.h"

static char table_path[64];
static struct reward_table reward_table;
static char error[512];

static int read_table(const char *text)
{
    strcpy(table_path, "/tmp/unseen-rewards-XXXXXX");
    FILE *const file = fdopen(mkstemp(table_path), "w");
    fputs(text, file);
    fclose(file);
    const int status = reward_table_read(table_path, &reward_table, error, sizeof error);
    unlink(table_path);
    return status;
}

static void expect_wrong(const char *text, int line, const char *found)
{
    char where[96];
    ck_assert_msg(read_table(text) == -1, "%s", text);
    snprintf(where, sizeof where, "%s:%d: ", table_path, line);
    ck_assert_msg(line == 0 || strncmp(error, where, strlen(where)) == 0, "%s", error);
    ck_assert_msg(strstr(error, found) && strstr(error, "expected") && strstr(error, "--->"), "%s", error);
}

/* The dense reward of KernelBench's hosted environment: speedup - 1, wrong -2, failure to run -3. Seen: 2 - 1
 * and 4 - 1, mean 2, median 2, least 1. Unseen: 2 - 1, 1/2 - 1, -2 and three that never ran, -6 each:
 * (1 - 0.5 - 2 - 18)/6. */
START_TEST(a_table_gives_the_rewards_worked_out_by_hand)
{
    const char *const dense = "# dense\nover mean\npass -1 + 1 * speedup\nwrong -2\ncrash -3\nload -4\n"
                              "compile -5\ncheating -7\ntimeout -7\nother -6\n";
    fill_record();
    ck_assert_msg(read_table(dense) == 0, "%s", error);
    fill_scores(&reward_table);
    expect_score(&record.scores.seen[SCORE_TABLE], 2);
    expect_score(unseen_score(SCORE_TABLE), -19.5 / 6);
    ck_assert_double_eq(scores_unusable(SCORE_TABLE, &reward_table, REWARD_COMPILE).value, -5);
    configs[4].outcome = OUTCOME_CRASH;
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), -20.5 / 6);
    configs[4].reason.stage = STAGE_LOADING;
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), -21.5 / 6);
    record.verdict = VERDICT_CHEATING;
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), -7);
}
END_TEST

/* Least: the worst of six. Median of 1, -0.5, -2 and three -6: (-2 - 6)/2. Steps: above 1.5 times 3, above
 * 0.4 times 2. */
START_TEST(rewards_become_one_by_mean_median_or_least)
{
    fill_record();
    ck_assert_int_eq(read_table("over least\npass -1 + 1 * speedup\nwrong -2\nother -6"), 0);
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), -6);
    ck_assert_int_eq(read_table("over median\r\npass -1 + 1 * speedup\r\nwrong -2\r\nother -6\r\n"), 0);
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), -4);
    ck_assert_int_eq(read_table("\xef\xbb\xbfpass 1\npass above 0.4 2\npass above 1.5 3\nother 0\n"), 0);
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), 5.0 / 6);
    ck_assert_int_eq(read_table("pass 0 + 8 * fraction\nother 0\n"), 0);
    ck_assert(!reward_table_compares(&reward_table) && reward_table_is_timed(&reward_table));
    fill_scores(&reward_table);
    expect_score(unseen_score(SCORE_TABLE), 4.0 / 6);
    ck_assert_int_eq(read_table("pass 0 + 1 * log2_speedup\nother 0\n"), 0);
    fill_scores(&reward_table);
    expect_score(&record.scores.seen[SCORE_TABLE], 1.5);
}
END_TEST

/* log2 of 1/1024 is -10; a crash is worth -3, and no passing candidate is worth less. */
START_TEST(a_pass_is_worth_no_less_than_any_failure)
{
    ck_assert_msg(read_table("pass 0 + 1 * log2_speedup\ncrash -3\nother -6\n") == 0, "%s", error);
    ck_assert_double_eq(reward_table_failure(&reward_table), -3);
    ck_assert_double_eq(reward_table_pass(&reward_table, 1.0 / 1024, 0), -3);
    ck_assert_double_eq(reward_table_pass(&reward_table, 4, 0), 2);
    ck_assert_double_eq(reward_table_least(&reward_table), -3);
    ck_assert_int_eq(read_table("pass 2 + 1 * speedup\npass above 3 9\nother 0\n"), 0);
    ck_assert_double_eq(reward_table_least(&reward_table), 2);
    ck_assert_int_eq(read_table("pass 2 + -1 * speedup\nother 0\n"), 0);
    ck_assert_double_eq(reward_table_least(&reward_table), 0);
}
END_TEST

START_TEST(a_wrong_table_says_where_it_is_wrong)
{
    expect_wrong("pass 1\nwrogn -2\n", 2, "'wrogn'");
    expect_wrong("pass 1\nwrong minus\n", 2, "'minus'");
    expect_wrong("pass 1\nwrong nan\n", 2, "'nan'");
    expect_wrong("pass 1\nwrong -2\n\nwrong -3\n", 4, "twice");
    expect_wrong("pass 1\npass 2\n", 2, "twice");
    expect_wrong("pass\n", 1, "0 words");
    expect_wrong("pass 1 + speedup\n", 1, "3 words");
    expect_wrong("pass 1 + 1 * speed\n", 1, "'speed'");
    expect_wrong("pass 1\npass above 2 1\npass above 2 1\n", 3, "after 2");
    expect_wrong("over most\n", 1, "`over most`");
    expect_wrong("wrong -2\nother 0\n", 0, "no line `pass`");
    expect_wrong("pass 1\nwrong -2\n", 0, "no value of `unwritten`");
    expect_wrong("pass 1\nwrong 2\nother 0\n", 0, "`pass` is worth 1, less than `wrong` with 2");
    expect_wrong("pass 1\npass above 1 0.5\ntimeout 0.6\nother 0\n", 0, "less than `timeout` with 0.6");
    ck_assert_int_eq(reward_table_read("/nosuch/table", &reward_table, error, sizeof error), -1);
    ck_assert_ptr_nonnull(strstr(error, "/nosuch/table: cannot read"));
    ck_assert_int_eq(reward_table_read("/", &reward_table, error, sizeof error), -1);
}
END_TEST

void reward_table_tests(TCase *tcase)
{
    tcase_add_test(tcase, a_table_gives_the_rewards_worked_out_by_hand);
    tcase_add_test(tcase, rewards_become_one_by_mean_median_or_least);
    tcase_add_test(tcase, a_pass_is_worth_no_less_than_any_failure);
    tcase_add_test(tcase, a_wrong_table_says_where_it_is_wrong);
}
