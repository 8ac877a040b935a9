/* Temporary files of atomic writes: abandoned ones are removed, and those of live writers stay. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report_sample.h"
#include "reports/record/atomic.h"

static char directory[64], path[96];

static void setup(void)
{
    strcpy(directory, "/tmp/unseen-temporaries-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
}

static void teardown(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(directory), 0); /* no temporary file is ever left */
}

/* As another process would have made it. */
static void make_file(const char *name, const char *text)
{
    FILE *out = fopen(name, "we");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(what_a_killed_process_left_half_written_is_cleared_and_nothing_else)
{
    char abandoned[160], held[160], others[160], error[512] = "";
    snprintf(abandoned, sizeof abandoned, "%s.4194305.0.tmp", path);
    snprintf(held, sizeof held, "%s.1.0.tmp", path);
    snprintf(others, sizeof others, "%s.mine.tmp", path);
    make_file(abandoned, "half");
    make_file(held, "half");
    make_file(others, "mine");
    const int lock = open(held, O_RDONLY | O_CLOEXEC);
    ck_assert(lock >= 0 && flock(lock, LOCK_EX) == 0);
    ck_assert_int_eq(atomic_write(path, "whole", 5, error, sizeof error), 0);
    ck_assert_int_ne(access(abandoned, F_OK), 0);
    ck_assert_int_eq(access(held, F_OK), 0);
    ck_assert_int_eq(access(others, F_OK), 0);
    close(lock);
    ck_assert_int_eq(atomic_write(path, "whole", 5, error, sizeof error), 0);
    ck_assert_int_ne(access(held, F_OK), 0);
    unlink(others);
}
END_TEST

/* Nobody takes a file for abandoned between its last byte and its new name. */
START_TEST(writers_at_the_same_time_all_succeed)
{
    enum { WRITERS = 6 };
    char error[512] = "";
    int status;
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            int failed = 0;
            for (int write = 0; write < 200; write++)
                failed += atomic_write(path, "whole", 5, error, sizeof error) != 0;
            _exit(failed > 0);
        }
    for (int i = 0; i < WRITERS; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

TCase *temporaries_case(void)
{
    TCase *files = tcase_create("temporaries");
    tcase_add_checked_fixture(files, setup, teardown);
    tcase_add_test(files, what_a_killed_process_left_half_written_is_cleared_and_nothing_else);
    tcase_add_test(files, writers_at_the_same_time_all_succeed);
    return files;
}
