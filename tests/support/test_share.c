/* A run prints the command that runs the same parts of its loops again (share.c). Part of the suite
 * `house`. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "share.h"
#include "suites.h"

enum { TEXT = 4000 };

/* Set for the runs below: the part that runs fails, and its message names the part. */
static const char marked[] = "UNSEEN_TEST_PARTS_FAIL";

START_TEST(one_part_of_three_runs)
{
    SHARE_TEST(_i, 3);
    ck_assert_msg(!getenv(marked), "part %d", _i);
}
END_TEST

static void read_output(const char *command, char text[TEXT])
{
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    text[fread(text, 1, TEXT - 1, in)] = '\0';
    pclose(in);
}

START_TEST(the_printed_command_runs_the_same_part)
{
    char self[512], command[700], first[TEXT], again[TEXT];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert(length > 0);
    self[length] = '\0';
    setenv(marked, "1", 1);
    snprintf(command, sizeof command, "BATTERY_SHARE=3 BATTERY_ROTATION=%d CK_RUN_CASE=parts %s house",
             5 + _i, self);
    read_output(command, first);
    ck_assert_msg(strstr(first, "3 checks, 1 failures") && strstr(first, ": part "), "%s", first);
    char *line = strstr(first, "again: ");
    ck_assert_msg(line != NULL, "%s", first);
    snprintf(command, sizeof command, "%.*s", (int)strcspn(line + 7, "\n"), line + 7);
    read_output(command, again);
    ck_assert_str_eq(again, first);
    read_output(strstr(command, "CK_RUN_CASE"), again); /* another share */
    ck_assert_str_ne(again, first);
}
END_TEST

TCase *share_parts_case(void)
{
    TCase *tcase = tcase_create("parts");
    tcase_add_loop_test(tcase, one_part_of_three_runs, 0, 3);
    return tcase;
}

TCase *share_again_case(void)
{
    TCase *tcase = tcase_create("again");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, the_printed_command_runs_the_same_part, 0, 3);
    return tcase;
}
