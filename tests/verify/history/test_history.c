/* The history. Stored rows are read again, many processes write at once, writers are killed at any moment,
 * and files that are no history are refused. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report_sample.h"
#include "reports/record/published.h"
#include "suites.h"
#include "verify/history/history.h"

static char folder[64], path[96], error[1024];
static struct history history;
static const int64_t day = 86400, then = 1793000000; /* 2026-10-26 */

static void setup(void)
{
    strcpy(folder, "/tmp/unseen-history-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/runs.db", folder);
    history = (struct history){.path = path};
    fill_full_result();
    error[0] = '\0';
}

static void teardown(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void begin(char token[HISTORY_TOKEN], int64_t now)
{
    ck_assert_msg(history_begin(&history, &result, now, token, error, sizeof error) == HISTORY_OK, "%s",
                  error);
}

static void finish(const char *token, int64_t now)
{
    ck_assert_msg(history_finish(&history, token, &result, now, error, sizeof error) == HISTORY_OK, "%s",
                  error);
}

static struct history_runs runs_of(const char *word)
{
    struct history_runs runs;
    ck_assert_msg(history_read(&history, word, &runs, error, sizeof error) == HISTORY_OK, "%s", error);
    return runs;
}

static int count_runs(const char *word)
{
    struct history_runs runs = runs_of(word);
    const int count = runs.count;
    history_runs_clear(&runs);
    return count;
}

START_TEST(a_run_is_read_as_it_was_stored)
{
    char token[HISTORY_TOKEN];
    begin(token, then);
    struct history_runs runs = runs_of(NULL);
    ck_assert_int_eq(runs.count, 1);
    ck_assert_str_eq(runs.run[0].state, "unfinished");
    ck_assert_int_eq(runs.run[0].seen.configs, -1);
    history_runs_clear(&runs);
    finish(token, then + 60);
    finish(token, then + 90); /* nothing changes */
    runs = runs_of("softmax");
    ck_assert_int_eq(runs.count, 1);
    const struct history_run *const run = &runs.run[0];
    ck_assert_str_eq(run->state, "finished");
    ck_assert_int_eq(run->started, then);
    ck_assert_int_eq(run->finished, then + 60);
    ck_assert_str_eq(run->verdict, verdict_name(result_verdict(&result)));
    ck_assert_str_eq(run->sha256, result.candidate_sha256);
    ck_assert(run->seed == result.seed);
    ck_assert_double_eq(run->drop, result.drop.value);
    ck_assert_int_eq(run->configs, result.result_count);
    for (int i = 0; i < run->configs; i++) {
        const struct config_result *const c = &result.results[i];
        ck_assert_str_eq(run->config[i].line, c->line);
        ck_assert_str_eq(run->config[i].outcome, outcome_name(c->outcome));
        ck_assert_int_eq(run->config[i].unseen, c->unseen);
        ck_assert_double_eq(run->config[i].ms, c->timing.present ? c->timing.median_ms : 0);
        ck_assert_double_eq(run->config[i].fraction, c->timing.present ? c->timing.fraction : 0);
        ck_assert_int_eq(run->config[i].baseline_outcome != NULL, c->baseline_judged);
    }
    history_runs_clear(&runs);
}
END_TEST

START_TEST(runs_are_found_by_problem_and_candidate_newest_first)
{
    char token[HISTORY_TOKEN];
    for (int i = 0; i < 3; i++) {
        snprintf(result.candidate_path, sizeof result.candidate_path, "work/kernel_%d.cu", i);
        result.candidate_sha256[0] = (char)('0' + i);
        begin(token, then + (i == 1 ? 5 : i) * day);
        finish(token, then + 6 * day);
    }
    ck_assert_int_eq(count_runs("softmax"), 3);
    ck_assert_int_eq(count_runs("topk"), 0);
    ck_assert_int_eq(count_runs("kernel_1.cu"), 1);
    ck_assert_int_eq(count_runs("kernel%1.cu"), 0); /* no pattern */
    ck_assert_int_eq(count_runs("kernel_"), 0);
    ck_assert_int_eq(count_runs("work/kernel_2.cu"), 1);
    ck_assert_int_eq(count_runs("2aaaaa"), 1);
    ck_assert_int_eq(count_runs("2aaaa"), 0); /* too short to name anything */
    struct history_runs runs = runs_of(NULL);
    ck_assert_str_eq(runs.run[0].candidate, "work/kernel_1.cu");
    ck_assert_str_eq(runs.run[1].candidate, "work/kernel_2.cu");
    ck_assert_str_eq(runs.run[2].candidate, "work/kernel_0.cu");
    history_runs_clear(&runs);
}
END_TEST

START_TEST(a_stored_result_is_taken_in_once)
{
    bool known;
    char token[HISTORY_TOKEN];
    begin(token, then);
    finish(token, then + 60);
    ck_assert_int_eq(history_import(&history, &result, then, &known, error, sizeof error), HISTORY_OK);
    ck_assert(known);
    result.seconds += 1;
    ck_assert_int_eq(history_import(&history, &result, then, &known, error, sizeof error), HISTORY_OK);
    ck_assert(!known);
    ck_assert_int_eq(history_import(&history, &result, then, &known, error, sizeof error), HISTORY_OK);
    ck_assert(known);
    ck_assert_int_eq(count_runs(NULL), 2);
}
END_TEST

/* --- many at once, and killed --- */

static pid_t fork_writer(int rounds)
{
    const pid_t pid = fork();
    char token[HISTORY_TOKEN];
    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    for (int i = 0; i < rounds; i++)
        if (history_begin(&history, &result, then + i, token, error, sizeof error) != HISTORY_OK ||
            history_finish(&history, token, &result, then + i, error, sizeof error) != HISTORY_OK) {
            fprintf(stderr, "%s\n", error);
            _exit(1);
        }
    _exit(0);
}

/* Every run is whole or has only its first row, and SQLite finds no fault. Returns the number of finished
 * ones. */
static int expect_sound(void)
{
    sqlite3 *db;
    sqlite3_stmt *check;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(check), SQLITE_ROW);
    ck_assert_str_eq((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
    sqlite3_close(db);
    struct history_runs runs = runs_of(NULL);
    int finished = 0;
    for (int i = 0; i < runs.count; i++) {
        const bool whole = strcmp(runs.run[i].state, "finished") == 0;
        ck_assert_int_eq(runs.run[i].configs, whole ? result.result_count : 0);
        ck_assert_int_eq(runs.run[i].verdict != NULL, whole);
        finished += whole;
    }
    history_runs_clear(&runs);
    return finished;
}

/* They also make the file and its tables, all at once. */
START_TEST(eight_writers_at_once_lose_nothing)
{
    enum { WRITERS = 8, ROUNDS = 3 };
    pid_t writer[WRITERS];
    int status;
    for (int i = 0; i < WRITERS; i++)
        writer[i] = fork_writer(ROUNDS);
    for (int i = 0; i < WRITERS; i++) {
        ck_assert_int_eq(waitpid(writer[i], &status, 0), writer[i]);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a writer failed");
    }
    ck_assert_int_eq(expect_sound(), WRITERS * ROUNDS);
}
END_TEST

/* Each writer is killed after a time of its own, within a transaction or between two; on a slow disk after
 * longer ones. Rows that were finished by then stay, and the next process marks those that had begun. */
START_TEST(a_writer_that_is_killed_leaves_nothing_half)
{
    enum { KILLS = 16, LONGEST_MS = 800 };
    char token[HISTORY_TOKEN];
    int before = 0, status, base_ms = 1;
    for (int i = 0; i < KILLS; i++) {
        const pid_t pid = fork_writer(1000000);
        const long us = 1000L * base_ms + 1700L * i;
        nanosleep(&(const struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFSIGNALED(status), "the writer ended by itself: %s", error);
        const int finished = access(path, F_OK) == 0 ? expect_sound() : 0;
        ck_assert_int_ge(finished, before);
        before = finished;
        if (before == 0 && base_ms < LONGEST_MS)
            base_ms *= 2;
    }
    ck_assert_int_gt(before, 0);
    begin(token, then + day);
    struct history_runs runs = runs_of(NULL);
    for (int i = 0; i < runs.count; i++)
        ck_assert_int_eq(strcmp(runs.run[i].state, "unfinished") == 0, i == 0); /* only our run is in
                                                                                 * progress */
    history_runs_clear(&runs);
}
END_TEST

/* --- failing operations --- */

static void expect_error(enum history_status status, bool writes, const char *found)
{
    struct history_runs runs;
    char token[HISTORY_TOKEN];
    const enum history_status got = writes
                                        ? history_begin(&history, &result, then, token, error, sizeof error)
                                        : history_read(&history, NULL, &runs, error, sizeof error);
    ck_assert_msg(got == status, "%d: %s", got, error);
    ck_assert_msg(strstr(error, found) && strstr(error, "expected") && strstr(error, "--->"), "%s", error);
}

static void change(const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(what_is_no_history_is_refused_and_left_alone)
{
    char token[HISTORY_TOKEN];
    expect_error(HISTORY_INPUT, false, "No such file");
    FILE *const file = fopen(path, "w");
    for (int i = 0; i < 100; i++)
        fputs("rows=4 cols=256 input=normal\n", file);
    fclose(file);
    expect_error(HISTORY_INPUT, false, "is not a database");
    expect_error(HISTORY_INPUT, true, "is not a database");
    unlink(path);
    change("CREATE TABLE mine (x)");
    expect_error(HISTORY_INPUT, false, "of something else");
    expect_error(HISTORY_INPUT, true, "of something else");
    unlink(path);
    begin(token, then);
    change("PRAGMA user_version = 2");
    expect_error(HISTORY_INPUT, false, "has schema 2; expected 1 at most");
    expect_error(HISTORY_INPUT, true, "has schema 2; expected 1 at most");
    history.path = folder;
    expect_error(HISTORY_INPUT, true, "is a directory");
    history.path = "/nosuch/runs.db";
    expect_error(HISTORY_ENVIRONMENT, true, "unable to open");
    history.path = "/dev/null";
    expect_error(HISTORY_INPUT, true, "no regular file");
}
END_TEST

START_TEST(a_database_that_somebody_holds_is_waited_for_and_then_given_up)
{
    char token[HISTORY_TOKEN];
    sqlite3 *db;
    begin(token, then);
    history.busy_ms = 50;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(history_finish(&history, token, &result, then, error, sizeof error),
                     HISTORY_ENVIRONMENT);
    ck_assert_msg(strstr(error, "locked"), "%s", error);
    ck_assert_int_eq(count_runs(NULL), 1); /* reading goes on */
    sqlite3_close(db);
    finish(token, then + 60);
    ck_assert_int_eq(expect_sound(), 1);
}
END_TEST

/* A file that may not grow stands for a full disk. */
START_TEST(a_full_disk_is_told_and_leaves_what_was_there)
{
    char token[HISTORY_TOKEN];
    const struct rlimit full = {4096, RLIM_INFINITY}, free_again = {RLIM_INFINITY, RLIM_INFINITY};
    begin(token, then);
    finish(token, then);
    begin(token, then + day);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
    const enum history_status status = history_finish(&history, token, &result, then, error, sizeof error);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &free_again), 0);
    ck_assert_int_eq(status, HISTORY_ENVIRONMENT);
    ck_assert_msg(strstr(error, "free some space"), "%s", error);
    ck_assert_int_eq(expect_sound(), 1);
    finish(token, then + day);
    ck_assert_int_eq(expect_sound(), 2);
}
END_TEST

START_TEST(a_file_that_was_taken_away_meanwhile_is_made_anew)
{
    char token[HISTORY_TOKEN];
    begin(token, then);
    unlink(path);
    finish(token, then + 60);
    ck_assert_int_eq(expect_sound(), 1);
}
END_TEST

/* SQLite would keep it in memory and lose it. */
START_TEST(a_name_that_means_something_to_sqlite_is_a_file)
{
    char token[HISTORY_TOKEN];
    ck_assert_int_eq(chdir(folder), 0);
    history.path = ":memory:";
    begin(token, then);
    ck_assert_int_eq(access(":memory:", F_OK), 0);
    ck_assert_int_eq(count_runs(NULL), 1);
}
END_TEST

/* --- the drawing --- */

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

START_TEST(a_drawing_has_a_mark_for_every_run_and_value)
{
    char token[HISTORY_TOKEN];
    strcpy(result.candidate_path, "a<b>&\"c\".cu");
    for (int i = 0; i < 4; i++) {
        result.drop.present = i != 2;
        begin(token, then + i * day);
        finish(token, then + i * day + 60);
    }
    begin(token, then + 5 * day); /* an unfinished run has nothing to draw */
    struct history_runs runs = runs_of(NULL);
    char *const svg = history_plot(&runs, error, sizeof error);
    ck_assert_msg(svg != NULL, "%s", error);
    ck_assert_int_eq(count_of(svg, "class=\"speed"), 1 + 4);
    ck_assert_int_eq(count_of(svg, "class=\"drop"), 1 + 3);
    ck_assert_int_eq(count_of(svg, " M"), 1 + 2); /* the gap breaks the line of drops */
    ck_assert_ptr_nonnull(strstr(svg, "a&#60;b&#62;&#38;&#34;c&#34;.cu"));
    ck_assert_ptr_null(strstr(svg, "a<b"));
    ck_assert_ptr_nonnull(strstr(svg, "2026-10-26"));
    ck_assert_ptr_null(strstr(svg, "nan"));
    free(svg);
    result.problem = "topk";
    history_runs_clear(&runs);
    begin(token, then + 6 * day);
    finish(token, then + 6 * day);
    runs = runs_of(NULL);
    ck_assert_ptr_null(history_plot(&runs, error, sizeof error));
    ck_assert_msg(strstr(error, "softmax and topk"), "%s", error);
    history_runs_clear(&runs);
    ck_assert_ptr_null(history_plot(&runs, error, sizeof error));
    ck_assert_msg(strstr(error, "no run has"), "%s", error);
}
END_TEST

Suite *history_suite(void)
{
    Suite *suite = suite_create("history");
    TCase *tcase = tcase_create("history");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_run_is_read_as_it_was_stored);
    tcase_add_test(tcase, runs_are_found_by_problem_and_candidate_newest_first);
    tcase_add_test(tcase, a_stored_result_is_taken_in_once);
    tcase_add_test(tcase, eight_writers_at_once_lose_nothing);
    tcase_add_test(tcase, a_writer_that_is_killed_leaves_nothing_half);
    tcase_add_test(tcase, what_is_no_history_is_refused_and_left_alone);
    tcase_add_test(tcase, a_database_that_somebody_holds_is_waited_for_and_then_given_up);
    tcase_add_test(tcase, a_full_disk_is_told_and_leaves_what_was_there);
    tcase_add_test(tcase, a_file_that_was_taken_away_meanwhile_is_made_anew);
    tcase_add_test(tcase, a_name_that_means_something_to_sqlite_is_a_file);
    tcase_add_test(tcase, a_drawing_has_a_mark_for_every_run_and_value);
    suite_add_tcase(suite, tcase);
    return suite;
}
