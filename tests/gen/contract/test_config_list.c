/* Files of configuration lines. */
#include "gen_fixture.h"

#include <stdio.h>
#include <unistd.h>

START_TEST(a_list_names_the_file_and_line_of_a_bad_configuration)
{
    struct space space = published_space("softmax");
    struct config_list list = {0};
    struct space_error error;
    char where[100];
    const char *path = write_file("# two good lines\nrows=1 cols=2\nrows=2 cols=2\n\nrows=0 cols=5\n");
    ck_assert_int_eq(config_list_read(&list, &space, path, false, &error), -1);
    unlink(path);
    snprintf(where, sizeof where, "%s:5: rows=0; in the contract rows is in 1..65536", path);
    expect_contains(error.text, where);
    ck_assert_int_eq(list.count, 2);
    ck_assert_int_eq(config_list_read(&list, &space, "/no/such", true, &error), 0);
    ck_assert_int_eq(config_list_read(&list, &space, "/no/such", false, &error), -1);
    config_list_clear(&list);
    space_clear(&space);
}
END_TEST

START_TEST(a_list_keeps_what_the_comments_of_its_lines_say)
{
    struct space space = published_space("softmax");
    struct config_list list = {0};
    struct space_error error = {""};
    const char *path = write_file("# calls=9 workload=of-no-line\nrows=1 cols=2 # for people\n"
                                  "rows=2 cols=2  # workload=6f-3 calls=37\nrows=2 cols=3 #calls=1\n"
                                  "rows=2 cols=4\n");
    ck_assert_msg(config_list_read(&list, &space, path, false, &error) == 0, "%s", error.text);
    ck_assert_int_eq(list.count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(list.note[i].workload, i == 1 ? "6f-3" : "");
        ck_assert_int_eq(list.note[i].calls, i == 1 ? 37 : i == 2);
    }
    config_list_clear(&list);
    space_clear(&space);
}
END_TEST

START_TEST(a_count_of_calls_in_a_comment_is_a_whole_number_from_1)
{
    static const char *const bad[] = {"0", "-3", "x", "", "3.5", "99999999999999999999"};
    struct space space = published_space("softmax");
    struct config_list list = {0};
    struct space_error error = {""};
    char text[80];
    snprintf(text, sizeof text, "rows=1 cols=2\nrows=1 cols=3 # calls=%s\n", bad[_i]);
    const char *path = write_file(text);
    ck_assert_int_eq(config_list_read(&list, &space, path, false, &error), -1);
    unlink(path);
    expect_contains(error.text, ":2: calls=");
    expect_contains(error.text, "a whole number from 1 was expected\n---> ");
    config_list_clear(&list);
    space_clear(&space);
}
END_TEST

TCase *gen_list_case(void)
{
    TCase *tests = tcase_create("lists");
    tcase_add_test(tests, a_list_names_the_file_and_line_of_a_bad_configuration);
    tcase_add_test(tests, a_list_keeps_what_the_comments_of_its_lines_say);
    tcase_add_loop_test(tests, a_count_of_calls_in_a_comment_is_a_whole_number_from_1, 0, 6);
    return tests;
}
