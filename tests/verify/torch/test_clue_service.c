/* Clues of Python files by the interpreter's process: real files, and processes that print anything or
 * die. */
#include <check.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"
#include "verify/torch/clue_service.h"
#include "work_folder.h"

static struct clue_list list;
static char why[1300], texts[8][600];
static size_t sizes[8];
static int lines[8], taken;

static void enter(void)
{
    work_folder_enter();
    list = (struct clue_list){0};
    taken = 0;
    why[0] = '\0';
}

static void leave(void)
{
    clue_list_clear(&list);
    work_folder_leave();
}

static void take(void *data, const char *text, size_t size, const char *file, int line)
{
    ck_assert_ptr_eq(data, &taken);
    ck_assert_str_eq(file, "k.py");
    ck_assert_int_lt(taken, 8);
    ck_assert_uint_lt(size, sizeof *texts);
    memcpy(texts[taken], text, size);
    texts[taken][size] = '\0';
    sizes[taken] = size;
    lines[taken++] = line;
}

static int read_files(const char *interpreter, int files, const char *const *file)
{
    return python_clues(&list, file, files, interpreter, take, &taken, why, sizeof why);
}

/* Returns whether the list has it at this line of this file. */
static bool has(const char *file, int line, const char *expected)
{
    char text[CLUE_MOST_TERMS * 2 * CLUE_TEXT_SIZE];
    for (int i = 0; i < list.count; i++) {
        clue_format(&list.item[i], text, sizeof text);
        if (strcmp(text, expected) == 0 && list.item[i].line == line && strcmp(list.item[i].file, file) == 0)
            return true;
    }
    return false;
}

static bool has_python(void)
{
    return system("python3 -I -c '' >/dev/null 2>&1") == 0;
}

static bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

/* --- real files --- */

START_TEST(files_give_their_clues_and_texts)
{
    glob_t left;
    if (!has_python())
        SKIP_TEST("no python3");
    work_folder_write("k.py", "if k % 64 == 32 and m == 1:\n    y = k // 8\n"
                              "s = '''__global__ void f(float *x) { x[0] = 1; }'''\n");
    work_folder_write("two.py", "assert n <= 4096\nwarned = '\\d'\n");
    work_folder_write("bad.py", "if :\n");
    work_folder_write("evil.py", "import os\nos._exit(9)\nif z == 7: raise SystemExit(9)\n");
    work_folder_write("\tlast.py", "k == 5\n");
    ck_assert_msg(
        read_files(NULL, 6,
                   (const char *const[]){"k.py", "no.py", "two.py", "bad.py", "evil.py", "\tlast.py"}) == 0,
        "%s", why);
    ck_assert(has("k.py", 1, "k % 64 == 32 and m == 1"));
    ck_assert(has("k.py", 2, "k tile 8"));
    ck_assert(has("two.py", 1, "n <= 4096"));
    ck_assert(has("evil.py", 3, "z == 7"));
    ck_assert(has("?last.py", 1, "k == 5"));
    ck_assert_int_eq(list.count, 6); /* and k tile 64 */
    ck_assert_int_eq(taken, 1);
    ck_assert_str_eq(texts[0], "__global__ void f(float *x) { x[0] = 1; }");
    ck_assert_int_eq(lines[0], 3);
    ck_assert(!list.truncated && !has_children());
    ck_assert_int_ne(glob("*/log", 0, NULL, &left), 0);
}
END_TEST

START_TEST(no_files_need_no_interpreter)
{
    ck_assert_int_eq(read_files("./no-python", 0, NULL), 0);
    ck_assert_int_eq(read_files("./no-python", 1, (const char *const[]){"k.py"}), -1);
    ck_assert_ptr_nonnull(strstr(why, "cannot run the interpreter ./no-python"));
    if (!has_python())
        SKIP_TEST("no python3");
    ck_assert_int_eq(read_files(NULL, 1, (const char *const[]){"no.py"}), 0);
    ck_assert_int_eq(list.count, 0);
}
END_TEST

/* --- processes that are no such service --- */

/* Writes an interpreter that answers as one, and then runs these lines of the shell's. */
static const char *fake(const char *body)
{
    static char path[100];
    char script[2000];
    snprintf(path, sizeof path, "%s/python", work_folder);
    snprintf(script, sizeof script,
             "#!/bin/sh\ncase \"$*\" in *probe.py)\n"
             "printf 'executable %%s\\nversion 3.11.2\\nshow %%s\\nend\\n' '%s' '%s'; exit;; esac\n"
             "cd '%s'\n%s\n",
             path, work_folder, work_folder, body);
    work_folder_write(path, script);
    ck_assert_int_eq(chmod(path, 0755), 0);
    work_folder_write("k.py", "");
    return path;
}

static int read_fake(const char *body)
{
    return read_files(fake(body), 1, (const char *const[]){"k.py"});
}

#define TERM(subject, relation, bound)                                                                       \
    "{\"subject\": " subject ", \"relation\": " relation ", \"bound\": " bound "}"
#define GOOD TERM("\"k % 64\"", "\"==\"", "\"32\"")
#define RECORD(file, line, terms) "{\"file\": " file ", \"line\": " line ", \"terms\": " terms "}\n"
#define TERMS(terms) RECORD("\"k.py\"", "3", terms)
#define X10 "xxxxxxxxxx"

#define ONE(subject, relation, bound) TERMS("[" TERM(subject, relation, bound) "]")
#define THREE GOOD "," GOOD "," GOOD

static const char *const hostile[] = {
    "a warning\n[1]\n7\nnull\n{}\n\"text\"\n{\"file\": \n",
    TERMS("[]"),
    TERMS("{}"),
    TERMS("7"),
    TERMS("[7]"),
    TERMS("[{}]"),
    ONE("\"k\"", "\"=>\"", "\"3\""),
    ONE("\"k\"", "7", "\"3\""),
    ONE("7", "\"<\"", "\"3\""),
    ONE("\"\"", "\"<\"", "\"3\""),
    ONE("\"k\"", "\"<\"", "null"),
    ONE("\"k;\"", "\"<\"", "\"3\""),
    ONE("\"k\\u001b[2J\"", "\"<\"", "\"3\""),
    ONE("\"k\\u0000\"", "\"<\"", "\"3\""),
    ONE("\"k)(\"", "\"<\"", "\"3\""),
    ONE("\"(k\"", "\"<\"", "\"3\""),
    ONE("\"k\"", "\"<\"", "\"9999999999999999999\""),
    ONE("\"" X10 X10 X10 X10 X10 X10 X10 X10 X10 "xxxxxx\"", "\"<\"", "\"3\""),
    TERMS("[" GOOD "," THREE "," THREE "]"),
    RECORD("\"other.py\"", "3", "[" GOOD "]"),
    RECORD("7", "3", "[" GOOD "]"),
    RECORD("\"k.py\"", "-1", "[" GOOD "]"),
    RECORD("\"k.py\"", "2147483648", "[" GOOD "]"),
};

static const char sound[] =
    ONE("\"n\"", "\"tile\"",
        "\"128\"") "{\"file\": \"k.py\", \"line\": 5, \"embedded\": \"a\\u0000b\\u00e9\"}\n"
                   "{\"file\": \"k.py\", \"line\": 6, \"embedded\": [1]}\n{\"truncated\": 1}\n";

START_TEST(records_that_are_none_are_left_out)
{
    FILE *const file = fopen("said", "we");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        fputs(hostile[i], file);
    fputs(sound, file);
    fclose(file);
    ck_assert_msg(read_fake("cat said") == 0, "%s", why);
    ck_assert(has("k.py", 3, "n tile 128"));
    ck_assert_int_eq(list.count, 1);
    ck_assert_int_eq(taken, 1);
    ck_assert_uint_eq(sizes[0], 5);
    ck_assert_int_eq(memcmp(texts[0], "a\0b\xc3\xa9", 5), 0);
    ck_assert(!list.truncated);
}
END_TEST

START_TEST(a_line_without_end_is_left_out)
{
    work_folder_write("said", sound);
    ck_assert_msg(read_fake("head -c 9000000 /dev/zero | tr '\\0' '['; echo; cat said") == 0, "%s", why);
    ck_assert_int_eq(list.count, 1);
}
END_TEST

START_TEST(more_clues_than_a_list_has_are_truncated)
{
    FILE *const file = fopen("said", "we");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < CLUE_MOST + 10; i++)
        fprintf(file,
                "{\"file\": \"k.py\", \"line\": 1, \"terms\": [{\"subject\": \"k\", \"relation\": \"<\", "
                "\"bound\": \"%d\"}]}\n",
                i);
    fclose(file);
    ck_assert_msg(read_fake("cat said") == 0, "%s", why);
    ck_assert_int_eq(list.count, CLUE_MOST);
    ck_assert(list.truncated);
}
END_TEST

/* A file may end the interpreter by a fault of its parser. Without a record, it never came so far. */
START_TEST(an_end_that_files_cause_is_no_error)
{
    work_folder_write("said", sound);
    ck_assert_msg(read_fake("cat said; kill -XCPU $$") == 0, "%s", why);
    ck_assert_int_eq(list.count, 1);
    ck_assert(list.truncated);
    list.truncated = false;
    ck_assert_int_eq(read_fake("echo no module clues; exit 1"), -1);
    ck_assert_msg(strstr(why, "no module clues") != NULL, "%s", why);
    ck_assert(!list.truncated && !has_children());
}
END_TEST

START_TEST(nobody_need_take_the_texts)
{
    work_folder_write("said", sound);
    const char *const file[] = {"k.py"};
    ck_assert_int_eq(python_clues(&list, file, 1, fake("cat said"), NULL, NULL, why, sizeof why), 0);
    ck_assert_int_eq(list.count, 1);
    ck_assert_int_eq(taken, 0);
}
END_TEST

/* The reading itself, by snippets. */
START_TEST(python_reads_what_it_should)
{
    static const char *const file[] = {"test_clues.py", "test_clues_files.py"};
    char command[200];
    if (!has_python())
        SKIP_TEST("no python3");
    snprintf(command, sizeof command, "python3 -I -B tests/python/%s", file[_i]);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *clue_service_suite(void)
{
    Suite *suite = suite_create("clue_service");
    TCase *tests = tcase_create("read");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, files_give_their_clues_and_texts);
    tcase_add_test(tests, no_files_need_no_interpreter);
    tcase_add_test(tests, records_that_are_none_are_left_out);
    tcase_add_test(tests, a_line_without_end_is_left_out);
    tcase_add_test(tests, more_clues_than_a_list_has_are_truncated);
    tcase_add_test(tests, an_end_that_files_cause_is_no_error);
    tcase_add_test(tests, nobody_need_take_the_texts);
    suite_add_tcase(suite, tests);
    TCase *snippets = tcase_create("snippets");
    tcase_set_timeout(snippets, 120);
    tcase_add_loop_test(snippets, python_reads_what_it_should, 0, 2);
    suite_add_tcase(suite, snippets);
    return suite;
}
