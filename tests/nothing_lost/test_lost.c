/* A few of the trials of tests/nothing_lost: whole runs are commands of their own. */
#include <check.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#include "lost.h"
#include "suites.h"

static void enter(void)
{
    static char self[1024];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert(length > 0);
    self[length] = '\0';
    ck_assert(lost_open(dirname(self)));
}

START_TEST(whatever_goes_wrong_around_a_run_nothing_is_lost)
{
#ifndef SANITIZED /* which neither shares the allocator nor is traced */
    ck_assert_int_eq(lost_disk(2), 0);
    ck_assert_int_eq(lost_memory(2), 0);
#endif
    ck_assert_int_eq(lost_kills(3), 0);
}
END_TEST

Suite *lost_suite(void)
{
    Suite *suite = suite_create("lost");
    TCase *tests = tcase_create("trials");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, enter, lost_close);
    tcase_add_test(tests, whatever_goes_wrong_around_a_run_nothing_is_lost);
    suite_add_tcase(suite, tests);
    return suite;
}
