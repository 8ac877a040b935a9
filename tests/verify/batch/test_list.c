/* Lists of a batch: what they hold, and every bad row with found, expected and what to do. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "batch_fixture.h"
#include "suites.h"

static struct batch_list list;
static char error[2048];

static void leave(void)
{
    batch_list_clear(&list);
    batch_leave();
}

static bool is_option(const char *name, bool *takes_value)
{
    *takes_value = strcmp(name, "no-timing") != 0;
    return !*takes_value || strcmp(name, "seed") == 0 || strcmp(name, "forbid") == 0;
}

static int read_list(const char *problem, const char *text)
{
    const struct batch_defaults defaults = {problem, json_pack("[ss]", "--unseen", "3"), is_option};
    batch_put("list", text);
    const int status = batch_list_read(&list, &defaults, "list", error, sizeof error);
    json_decref(defaults.words);
    return status;
}

static void expect_words(int index, const char *expected)
{
    char *const words = json_dumps(list.item[index].words, JSON_COMPACT);
    ck_assert_str_eq(words, expected);
    free(words);
}

START_TEST(a_row_has_defaults_and_options_become_words)
{
    batch_put("a.c", "");
    batch_put("b.c", "");
    ck_assert_msg(read_list("softmax",
                            "{\"file\": \"a.c\"}\n\n"
                            "{\"file\": \"b.c\", \"id\": \"x\", \"problem\": \"topk\", \"options\": "
                            "{\"seed\": 5, \"no-timing\": true, \"forbid\": [\"cublas\", \"cutlass\"]}}") ==
                      0,
                  "%s", error);
    ck_assert_int_eq(list.count, 2);
    ck_assert_str_eq(list.item[0].id, "a.c");
    ck_assert_str_eq(list.item[0].problem, "softmax");
    expect_words(0, "[\"--unseen\",\"3\"]");
    ck_assert_str_eq(list.item[1].id, "x");
    ck_assert_str_eq(list.item[1].problem, "topk");
    expect_words(1, "[\"--unseen\",\"3\",\"--seed\",\"5\",\"--no-timing\",\"--forbid\",\"cublas\",\"--"
                    "forbid\",\"cutlass\"]");
}
END_TEST

static const struct {
    const char *text, *found, *hint;
} bad[] = {
    {"{\"file\": \"a.c\"}", "list:1: found no problem", "add \"problem\""},
    {"{\"problem\": \"p\"}", "list:1: found no file", "add \"file\""},
    {"{\"problem\": \"p\", \"file\": \"none.c\"}", "list:1: found none.c, which cannot be read (No such file",
     "correct the path"},
    {"{\"problem\": \"p\", \"file\": \"a.c\"}\n{\"problem\": \"p\", \"file\": \"a.c\"}",
     "list:2: found the id 'a.c' a second time", "an \"id\" of its own"},
    {"{\"problem\": \"p\", \"file\": \"a.c\", \"id\": \"b.c\"}\n{\"problem\": \"p\", \"file\": \"b.c\"}",
     "the id 'b.c' a second time", "of its own"},
    {"{\"problem\": \"p\", \"file\": \"a.c\", \"option\": {}}", "list:1: found the key 'option'",
     "for example"},
    {"{\"problem\": \"p\", \"file\": 7}", "the key 'file', or another type", "for example"},
    {"a.c", "list:1: found a line that is no JSON object", "for example"},
    {"[1]", "a line that is no JSON object", "for example"},
    {"{\"problem\": \"p\", \"file\": \"a.c\", \"options\": {\"sede\": 5}}", "list:1: unknown option 'sede'",
     "unseen batch --help"},
    {"{\"problem\": \"p\", \"file\": \"a.c\", \"options\": {\"seed\": true}}",
     "another value of option 'seed'", "{\"seed\": 5}"},
    {"{\"problem\": \"p\", \"file\": \"a.c\", \"options\": {\"seed\": {}}}", "another value of option 'seed'",
     "{\"seed\": 5}"},
    {"{\"problem\": \"p\", \"file\": \"a.c\", \"options\": {\"no-timing\": 1}}",
     "another value of option 'no-timing'", "leave the option out"},
};

START_TEST(a_bad_row_is_refused_with_its_line)
{
    batch_put("a.c", "");
    batch_put("b.c", "");
    ck_assert_int_eq(read_list(NULL, bad[_i].text), -1);
    ck_assert_msg(strstr(error, bad[_i].found) != NULL, "%s", error);
    ck_assert_msg(strstr(error, "expected") != NULL, "%s", error);
    const char *const hint = strstr(error, "\n---> ");
    ck_assert_msg(hint && strstr(hint, bad[_i].hint), "%s", error);
}
END_TEST

START_TEST(a_folder_stands_for_its_candidates_by_name)
{
    const struct batch_defaults defaults = {"softmax", json_array(), is_option};
    ck_assert_int_eq(system("mkdir d && touch d/b.c d/a.cu d/c.py d/notes.txt d/.hidden.c d/r.json"), 0);
    ck_assert_msg(batch_list_add(&list, &defaults, "d", error, sizeof error) == 0, "%s", error);
    ck_assert_int_eq(list.count, 3);
    ck_assert_str_eq(list.item[0].file, "d/a.cu");
    ck_assert_str_eq(list.item[1].file, "d/b.c");
    ck_assert_str_eq(list.item[2].file, "d/c.py");
    ck_assert_int_eq(system("mkdir e"), 0);
    ck_assert_int_eq(batch_list_add(&list, &defaults, "e", error, sizeof error), -1);
    ck_assert_msg(strstr(error, "e holds no candidate") != NULL, "%s", error);
    json_decref(defaults.words);
}
END_TEST

TCase *batch_list_case(void)
{
    TCase *tests = tcase_create("batch-list");
    tcase_add_checked_fixture(tests, batch_enter, leave);
    tcase_add_test(tests, a_row_has_defaults_and_options_become_words);
    tcase_add_loop_test(tests, a_bad_row_is_refused_with_its_line, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tests, a_folder_stands_for_its_candidates_by_name);
    return tests;
}
