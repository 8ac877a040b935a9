/* A process that opens the same word again, as a lane of a batch does: the present state counts. */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/judge.h"
#include "suites.h"
#include "verify/problem/folder.h"
#include "verify/torch/importing.h"
#include "verify/torch/task.h"

static char text[4096];

static const struct problem *opened(const char *word)
{
    const struct problem *problem;
    ck_assert_msg(folder_problem(&problem, word, text, sizeof text) == FOLDER_OK, "%s", text);
    ck_assert_str_eq(folder_word(problem), word);
    return problem;
}

static void expect_refused(const char *word, const char *why)
{
    const struct problem *problem;
    ck_assert_int_eq(folder_problem(&problem, word, text, sizeof text), FOLDER_INPUT);
    ck_assert_ptr_null(problem);
    ck_assert_msg(strstr(text, why) != NULL, "%s", text);
}

START_TEST(a_changed_problem_is_compiled_and_judged_anew)
{
    const struct problem *const first = opened("./softmax");
    ck_assert_ptr_eq(opened("softmax/../softmax"), first);
    own_sh("sed -i 's/\\.name = \"softmax\"/.name = \"other\"/' softmax/problem.c && ! grep -q "
           "'name = \"softmax\"' softmax/problem.c");
    expect_refused("./softmax", "other");
    expect_refused("./softmax", "other"); /* it is not taken since it is known */
    own_sh("sed -i -e 's/name = \"other\"/name = \"softmax\"/' -e 's/\\.summary = \"/&Changed. /' "
           "softmax/problem.c");
    const struct problem *const second = opened("./softmax");
    ck_assert_ptr_ne(second, first);
    ck_assert_int_eq(strncmp(second->summary, "Changed. ", 9), 0);
    ck_assert_ptr_null(reference_find(first, 1));
    ck_assert_ptr_nonnull(reference_find(second, 1));
}
END_TEST

static int imports;

static enum folder_status import_row_scale(const struct folder_tasks *tasks, const char *source, char *folder,
                                           size_t folder_size, char *error, size_t error_size)
{
    (void)tasks, (void)source, (void)error, (void)error_size;
    imports++;
    own_sh("mkdir -p i%d && cp -r %s i%d/", imports, cli_repository("tests/task/row_scale"), imports);
    snprintf(folder, folder_size, "i%d/row_scale", imports);
    return FOLDER_OK;
}

static void offer(const char *python)
{
    folder_set_tasks(&(struct folder_tasks){imported_read, import_row_scale, python, 0});
}

START_TEST(a_changed_task_is_read_anew)
{
    offer(NULL);
    own_sh("cp -r %s .", cli_repository("tests/task/row_scale"));
    const struct problem *const first = opened("./row_scale");
    own_sh("echo >>row_scale/row_scale.task");
    ck_assert_ptr_eq(opened("./row_scale"), first); /* nothing that counts */
    own_sh(
        "cp row_scale/row_scale.task whole && sed -i 's/\"low\": 1,/\"low\": 2,/' row_scale/row_scale.task "
        "&& ! cmp -s whole row_scale/row_scale.task");
    const struct problem *const second = opened("./row_scale");
    ck_assert_ptr_ne(second, first);
    own_sh("echo >>row_scale/source.py");
    expect_refused("./row_scale", "is not the one that was imported");
}
END_TEST

START_TEST(a_task_is_imported_again_if_its_file_or_the_interpreter_is_another)
{
    imports = 0;
    offer(NULL);
    cli_put("t.py", "one\n");
    own_sh("mkdir -p hard/data && touch hard/reference.py");
    const struct problem *const first = opened("./t.py");
    ck_assert_ptr_eq(opened("././t.py"), first);
    ck_assert_int_eq(imports, 1);
    opened("./hard");
    opened("./hard");
    ck_assert_int_eq(imports, 2);
    cli_put("t.py", "two\n");
    ck_assert_ptr_ne(opened("./t.py"), first);
    ck_assert_int_eq(imports, 3);
    cli_put("hard/data/shapes.py", "3\n");
    opened("./hard");
    ck_assert_int_eq(imports, 4);
    offer("python3.9");
    opened("./hard");
    ck_assert_int_eq(imports, 5);
}
END_TEST

TCase *own_again_case(void)
{
    TCase *tests = tcase_create("own-again");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_changed_problem_is_compiled_and_judged_anew);
    tcase_add_test(tests, a_changed_task_is_read_anew);
    tcase_add_test(tests, a_task_is_imported_again_if_its_file_or_the_interpreter_is_another);
    return tests;
}
