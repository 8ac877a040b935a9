/* What importing wrote, cut off, changed or renamed: without an interpreter. Part of the suite `task`. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "suites.h"

static char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* A copy of tests/task/row_scale called `name`, of whose .task only `kept` hundredths are left. */
static void copy_task(const char *name, int kept)
{
    static const char *const endings[] = {"row_scale.task", "row_scale.space", "row_scale.seen", "source.py"};
    ck_assert_int_eq(mkdir(name, 0755), 0);
    for (int i = 0; i < 4; i++) {
        char from[300], to[300];
        snprintf(from, sizeof from, "tests/task/row_scale/%s", endings[i]);
        snprintf(to, sizeof to, "%s/%s", name, endings[i]);
        char *text = text_of(cli_repository(from));
        if (i == 0)
            text[strlen(text) * (size_t)kept / 100] = '\0';
        cli_put(to, text);
    }
}

START_TEST(a_description_that_is_cut_off_is_refused)
{
    static const int kept[] = {0, 1, 30, 60, 99};
    copy_task("row_scale", kept[_i]);
    CLI("describe", "./row_scale");
    cli_expect_error(2, "row_scale.task: line ", "a JSON object was expected", "import the task again");
}
END_TEST

static const struct {
    const char *from, *to, *found, *expected;
} changes[] = {
    {"\"task\": 1,", "\"task\": 2,", "its format is not known: \"task\" is not 1", "1 was expected"},
    {"\"task\": 1,", "", "its format is not known", "1 was expected"},
    {"\"outputs\": [", "\"outputs\": [], \"x\": [", "there is no output", "one at least was expected"},
    {"\"inputs\": [", "\"inputs\": 3, \"y\": [", "\"inputs\" is missing or no list", "a list was expected"},
    {"\"dtype\": \"float32\"", "\"dtype\": \"complex64\"", "the dtype 'complex64'", "another one"},
    {"\"task\": 1,", "\"task\": 1, \"tolerance\": {\"float32\": \"wide\"},",
     "no number from 0 on for float32", "one was expected"},
    {"\"task\": 1,", "\"task\": 1, \"tolerance\": {\"float32\": -1},", "no number from 0 on for float32",
     "one was expected"},
    {"\"classes\": [", "\"classes\": [], \"z\": [", "there is no input class", "one at least was expected"},
};

START_TEST(a_description_that_says_something_else_is_refused)
{
    char changed[1 << 16];
    copy_task("row_scale", 100);
    const char *const text = text_of("row_scale/row_scale.task");
    const char *const at = strstr(text, changes[_i].from);
    ck_assert_msg(at != NULL, "no %s", changes[_i].from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, changes[_i].to,
             at + strlen(changes[_i].from));
    cli_put("row_scale/row_scale.task", changed);
    CLI("describe", "./row_scale");
    cli_expect_error(2, changes[_i].found, changes[_i].expected, "import the task again");
}
END_TEST

START_TEST(a_tolerance_of_the_task_is_the_published_one)
{
    char changed[1 << 16];
    copy_task("row_scale", 100);
    CLI("describe", "./row_scale");
    cli_expect(0, "0.0001");
    const char *const text = text_of("row_scale/row_scale.task");
    const char *const at = strstr(text, "\"task\": 1,");
    snprintf(changed, sizeof changed, "%.*s\"tolerance\": {\"bfloat16\": 0.5, \"float32\": 0.0625}, %s",
             (int)(at - text), text, at);
    cli_put("row_scale/row_scale.task", changed);
    CLI("describe", "./row_scale");
    cli_expect(0, "0.0625");
}
END_TEST

START_TEST(a_folder_that_holds_no_task_is_refused)
{
    copy_task("renamed", 100);
    CLI("describe", "./renamed");
    cli_expect_error(2, "holds row_scale.task", "renamed.task was expected",
                     "rename the folder to row_scale");
    unlink("renamed/row_scale.task");
    CLI("describe", "./renamed");
    cli_expect_error(2, "has no problem.c", "or what `unseen import` wrote", "");
}
END_TEST

TCase *task_folders_case(void)
{
    TCase *folders = tcase_create("folders");
    tcase_add_loop_test(folders, a_description_that_is_cut_off_is_refused, 0, 5);
    tcase_add_loop_test(folders, a_description_that_says_something_else_is_refused, 0,
                        sizeof changes / sizeof *changes);
    tcase_add_test(folders, a_tolerance_of_the_task_is_the_published_one);
    tcase_add_test(folders, a_folder_that_holds_no_task_is_refused);
    return folders;
}
