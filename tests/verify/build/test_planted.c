/* Files that the tool makes without being asked. Files that a stranger planted under their names are never
 * written through. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/record/atomic.h"
#include "suites.h"
#include "work_folder.h"
#include "verify/build/build.h"
#include "verify/build/scratch.h"
#include "verify/device/calibrate.h"
#include "verify/device/lockfile.h"
#include "verify/history/history.h"
#include "verify/sandbox/helper_process.h"
#include "verify/problem/cache.h"

#define TREASURE "precious\n"

static char error[4096];

static void expect_file(const char *path, const char *content)
{
    char held[200] = "";
    FILE *in = fopen(path, "re");
    ck_assert_ptr_nonnull(in);
    held[fread(held, 1, sizeof held - 1, in)] = '\0';
    fclose(in);
    ck_assert_str_eq(held, content);
}

/* --- what is planted --- */

enum plant { LINK, DANGLING, HARD, PIPE, PLANTS };

static void plant(enum plant kind, const char *name)
{
    work_folder_write("treasure", TREASURE);
    ck_assert_int_eq(kind == LINK       ? symlink("treasure", name)
                     : kind == DANGLING ? symlink("nowhere", name)
                     : kind == HARD     ? link("treasure", name)
                                        : mkfifo(name, 0600),
                     0);
}

/* The target of a link is unchanged, and a link to nowhere has made nothing. */
static void expect_untouched(void)
{
    expect_file("treasure", TREASURE);
    ck_assert_int_ne(access("nowhere", F_OK), 0);
}

static bool is_plain(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

/* --- what is made --- */

static void fail_to_compile(void)
{
    struct build built;
    work_folder_write("kernel.c", "#error alias ls='rm -rf ~'\n");
    ck_assert_int_eq(build_candidate(&built, &(struct build_options){.path = "kernel.c", .timeout = 60},
                                     error, sizeof error),
                     BUILD_FAILED);
}

START_TEST(the_log_of_a_build_replaces_what_is_planted)
{
    plant((enum plant)_i, "unseen-build.log");
    fail_to_compile();
    expect_untouched();
    ck_assert_msg(strstr(error, "output is in unseen-build.log") != NULL, "%s", error);
    ck_assert(is_plain("unseen-build.log"));
}
END_TEST

/* A folder of that name keeps the log out, like a read-only folder. */
START_TEST(the_log_of_a_build_elsewhere_has_a_new_name)
{
    char name[300] = "";
    ck_assert_int_eq(mkdir("unseen-build.log", 0755), 0);
    ck_assert_int_eq(mkdir("tmp", 0755), 0);
    setenv("TMPDIR", "tmp", 1);
    ck_assert_int_eq(chdir("tmp"), 0);
    plant((enum plant)_i, "unseen-build.log");
    ck_assert_int_eq(chdir(".."), 0);
    fail_to_compile();
    const char *const said = strstr(error, "output is in tmp/unseen-build-");
    ck_assert_msg(said != NULL, "%s", error);
    ck_assert_int_eq(sscanf(said, "output is in %299s", name), 1);
    ck_assert_msg(is_plain(name), "%s", name);
    ck_assert_int_eq(chdir("tmp"), 0);
    expect_untouched();
}
END_TEST

START_TEST(a_file_of_our_own_replaces_what_is_planted)
{
    plant((enum plant)_i, "own");
    ck_assert_int_eq(atomic_replace("own", "log", "text\n", 5, error, sizeof error), 0);
    expect_untouched();
    ck_assert(is_plain("own"));
    expect_file("own", "text\n");
}
END_TEST

START_TEST(a_temporary_file_passes_over_what_is_planted)
{
    char name[100];
    snprintf(name, sizeof name, "report.%ld.0.tmp", (long)getpid());
    plant((enum plant)_i, name);
    ck_assert_int_eq(atomic_write("report", "text\n", 5, error, sizeof error), 0);
    expect_untouched();
    expect_file("report", "text\n");
}
END_TEST

START_TEST(a_copy_is_made_of_nothing_that_is_planted)
{
    char hash[65];
    work_folder_write("from", "text\n");
    plant((enum plant)_i, "to");
    ck_assert_int_eq(scratch_take("from", "to", hash), -2);
    expect_untouched();
}
END_TEST

START_TEST(a_log_is_opened_through_no_link)
{
    static const char *const words[] = {"/bin/true", NULL};
    const char *const environment[] = {NULL};
    pid_t pid;
    plant((enum plant)_i, "log");
    ck_assert_int_ne(
        helper_process_start(
            &pid, &(struct helper_process){.argv = words, .environment = environment, .log = "log"}),
        0);
    expect_untouched();
}
END_TEST

START_TEST(a_kept_problem_is_written_through_nothing)
{
    struct cache_slot slot;
    const char *const sources[] = {NULL};
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    work_folder_write("object", "object\n");
    ck_assert_int_eq(mkdir("unseen", 0700), 0);
    ck_assert_int_eq(chdir("unseen"), 0);
    plant((enum plant)_i, "problem.0.tmp");
    ck_assert_int_eq(symlink("nowhere", "problem.lock"), 0);
    cache_open(&slot, "problem");
    ck_assert_int_eq(slot.lock, -1); /* no lock is better than another's file */
    cache_close(&slot);
    ck_assert_int_eq(unlink("problem.lock"), 0);
    cache_open(&slot, "problem");
    ck_assert_msg(cache_keep(&slot, "../object", "key", (char *const *)sources, &began), "%s", slot.why);
    cache_close(&slot);
    expect_untouched();
    ck_assert(is_plain("problem"));
}
END_TEST

START_TEST(a_calibration_is_written_through_a_link_only_where_it_was_named)
{
    struct calibration c = {.protocol = 1};
    char hash[CALIBRATION_HASH];
    plant((enum plant)_i, "peaks");
    ck_assert_int_eq(calibration_write("peaks", false, &c, hash, error, sizeof error), 0);
    expect_untouched();
    ck_assert(is_plain("peaks"));
    ck_assert_int_eq(symlink("treasure", "named"), 0);
    ck_assert_int_eq(calibration_write("named", true, &c, hash, error, sizeof error), 0);
    ck_assert(!is_plain("named"));
}
END_TEST

/* A hard link is locked, which does not change it. */
START_TEST(a_lock_is_taken_of_no_link_and_no_pipe)
{
    plant((enum plant)_i, "lock");
    const int fd = lockfile_open("lock");
    ck_assert_int_eq(fd >= 0, _i == HARD);
    if (fd >= 0)
        close(fd);
    expect_untouched();
}
END_TEST

/* The database's path is the user's, and those of its companion files are not. A hard link as a companion is
 * a broken journal. */
START_TEST(a_history_writes_through_no_companion)
{
    static const char *const companions[] = {"own.db-wal", "own.db-shm", "own.db-journal"};
    struct result result = {.problem = "softmax", .candidate_path = "k.c"};
    char token[HISTORY_TOKEN];
    plant((enum plant)(_i % PLANTS), companions[_i / PLANTS]);
    alarm(50);
    history_begin(&(struct history){.path = "own.db", .busy_ms = 100}, &result, 1, token, error,
                  sizeof error);
    if (_i % PLANTS != HARD)
        expect_untouched();
    ck_assert_int_ne(access("nowhere", F_OK), 0);
}
END_TEST

TCase *planted_case(void)
{
    TCase *tests = tcase_create("planted");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, work_folder_enter, work_folder_leave);
    tcase_add_loop_test(tests, the_log_of_a_build_replaces_what_is_planted, 0, PLANTS);
    tcase_add_loop_test(tests, the_log_of_a_build_elsewhere_has_a_new_name, 0, PLANTS);
    tcase_add_loop_test(tests, a_file_of_our_own_replaces_what_is_planted, 0, PLANTS);
    tcase_add_loop_test(tests, a_temporary_file_passes_over_what_is_planted, 0, PLANTS);
    tcase_add_loop_test(tests, a_copy_is_made_of_nothing_that_is_planted, 0, PLANTS);
    tcase_add_loop_test(tests, a_log_is_opened_through_no_link, 0, HARD);
    tcase_add_loop_test(tests, a_kept_problem_is_written_through_nothing, 0, PLANTS);
    tcase_add_loop_test(tests, a_calibration_is_written_through_a_link_only_where_it_was_named, 0, PLANTS);
    tcase_add_loop_test(tests, a_lock_is_taken_of_no_link_and_no_pipe, 0, PLANTS);
    tcase_add_loop_test(tests, a_history_writes_through_no_companion, 0, 3 * PLANTS);
    return tests;
}
