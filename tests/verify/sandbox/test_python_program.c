/* The choice of an interpreter, and its needs of the file system: fakes that answer like an interpreter,
 * wrappers around the system's, and files that are none. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"
#include "verify/sandbox/python_program.h"

static const char probe[] = PYTHON_PROBE;

static char folder[64], text[1200];
static struct python_program program;

static void make_folder(void)
{
    strcpy(folder, "/tmp/unseen-python-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    text[0] = '\0';
}

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The path of a script of the shell's. */
static const char *put(const char *name, const char *lines)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const out = fopen(path, "we");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "#!/bin/sh\n%s\n", lines);
    fclose(out);
    ck_assert_int_eq(chmod(path, 0755), 0);
    return path;
}

static int ask(const char *named)
{
    return python_ask(&program, named, probe, text, sizeof text);
}

static bool shows(const char *path)
{
    for (int i = 0; i < program.folders; i++) {
        const size_t length = strlen(program.folder[i]);
        if (strncmp(path, program.folder[i], length) == 0 && (path[length] == '/' || !path[length]))
            return true;
    }
    return false;
}

static bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static bool has_python(void)
{
    return system("python3 -I -c '' >/dev/null 2>&1") == 0;
}

#define SAYS(facts) "cat <<X\n" facts "end\nX"
#define WHERE "executable /usr/bin/python3.11\nversion 3.11.2\nshow /usr\n"

START_TEST(an_interpreter_says_where_it_lies_and_what_it_has)
{
    if (!has_python())
        SKIP_TEST("no python3");
    ck_assert_msg(ask(NULL) == 0, "%s", text);
    ck_assert_int_eq(program.path[0], '/');
    ck_assert_int_eq(access(program.path, X_OK), 0);
    ck_assert_int_eq(strncmp(program.version, "3.", 2), 0);
    ck_assert_int_ne(program.torch[0], '\0');
    ck_assert(shows(program.path));
    ck_assert(!shows("/tmp") && !shows("/"));
}
END_TEST

/* By its name on PATH, and by a path from here. Its own output does not matter. */
START_TEST(a_script_that_chooses_among_versions_is_an_interpreter)
{
    char command[300], path[400];
    if (!has_python())
        SKIP_TEST("no python3");
    ck_assert_int_eq(ask("python3"), 0);
    const struct python_program real = program;
    snprintf(command, sizeof command, "echo choosing: version 3\necho warning >&2\nexec '%.200s' \"$@\"",
             real.path);
    ck_assert_msg(ask(put("any-python", command)) == 0, "%s", text);
    ck_assert_str_eq(program.path, real.path);
    ck_assert_int_eq(program.folders, real.folders);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    ck_assert_msg(ask("any-python") == 0, "%s", text);
    ck_assert_str_eq(program.path, real.path);
}
END_TEST

/* A virtual environment's interpreter is known by its place, and is a link to another one: both are shown,
 * and the links' targets. */
START_TEST(an_interpreter_of_a_virtual_environment_keeps_its_place)
{
    char command[800], path[200];
    if (!has_python())
        SKIP_TEST("no python3");
    ck_assert_int_eq(ask("python3"), 0);
    const struct python_program real = program;
    snprintf(command, sizeof command,
             "mkdir -p %s/v/bin && ln -s '%.100s' %s/v/bin/python && echo 'home = /usr/bin' >%s/v/pyvenv.cfg "
             "&& ln -s v "
             "%s/link",
             folder, real.path, folder, folder, folder);
    ck_assert_int_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/link/bin/python", folder);
    ck_assert_msg(ask(path) == 0, "%s", text);
    ck_assert_str_eq(program.path, path);
    ck_assert(shows(path) && shows(real.path));
    snprintf(path, sizeof path, "%s/v/bin/python", folder);
    ck_assert(shows(path));
}
END_TEST

static void expect_none(const char *named, const char *words)
{
    ck_assert_int_ne(ask(named), 0);
    ck_assert_msg(strstr(text, "cannot run the interpreter ") && strstr(text, words) &&
                      strstr(text, "; Python with torch was expected\n---> --python PATH names one"),
                  "%s", text);
    ck_assert_str_eq(program.path, "");
}

START_TEST(what_is_no_interpreter_is_told_with_its_last_words)
{
    char lines[4000] = "echo 'executable /x/", *end = lines + strlen(lines);
    expect_none("./no-python", "./no-python: No such file or directory");
    expect_none("no-such-python", "no-such-python: No such file or directory");
    expect_none("/tmp", "Permission denied");
    expect_none("/bin/true", "/bin/true: it does not say where it lies; Python");
    expect_none(put("p", "echo first; printf 'version 3.9 is\\033[31m not installed\\n\\n' >&2; exit 127"),
                "it does not say where it lies; its last words: version 3.9 is?[31m not installed;");
    expect_none(put("p", SAYS("executable python\n")), "it does not say where it lies");
    expect_none(put("p", "echo executable /usr/bin/python3; echo version"), "it does not say where it lies");
    memset(end, 'x', PROGRAM_PATH);
    strcpy(end + PROGRAM_PATH, "'; echo end");
    expect_none(put("p", lines), "or their names are too long");
    expect_none(put("p", "echo executable /x; for i in $(seq 30); do echo show /$i; done; echo end"),
                "it lies in too many folders");
    ck_assert(!has_children());
}
END_TEST

/* A process that it leaves running neither delays us nor stays. */
START_TEST(an_interpreter_that_does_not_end_is_ended_when_it_has_said_all)
{
    ck_assert_int_eq(ask(put("p", SAYS(WHERE "torch 2.9.0\ncuda 13.0\n") "\nsleep 100 &\nsleep 200")), 0);
    ck_assert_str_eq(program.path, "/usr/bin/python3.11");
    ck_assert_str_eq(program.folder[0], "/usr");
    ck_assert(!has_children());
}
END_TEST

static const struct {
    const char *facts;
    enum python_need need;
    const char *words; /* NULL: it has all packages */
} having[] = {
    {WHERE "torch 2.9.0\ncuda 13.0\n", PYTHON_TORCH_CUDA, NULL},
    {WHERE "torch 2.9.0\ncuda none\n", PYTHON_TORCH, NULL},
    {WHERE "torch 2.9.0\ncuda none\n", PYTHON_TORCH_CUDA,
     "the torch 2.9.0 of /usr/bin/python3.11 was built without CUDA; one with CUDA was expected\n---> "
     "--python"},
    {WHERE "torch none\ncuda none\n", PYTHON_TORCH_CUDA,
     "/usr/bin/python3.11 (Python 3.11.2) has no torch; one with PyTorch was expected\n---> --python PATH "
     "names"},
    {WHERE "torch none\ncuda none\n", PYTHON_TORCH, " has no torch; "},
    {WHERE, PYTHON_TORCH, " has no torch; "},
};

START_TEST(what_an_interpreter_lacks_has_the_same_words_for_all)
{
    char lines[400];
    snprintf(lines, sizeof lines, "cat <<X\n%send\nX", having[_i].facts);
    ck_assert_msg(ask(put("p", lines)) == 0, "%s", text);
    const int lacks = python_require(&program, having[_i].need, text, sizeof text);
    ck_assert_int_eq(lacks != 0, having[_i].words != NULL);
    ck_assert_msg(!having[_i].words || strstr(text, having[_i].words), "%s", text);
}
END_TEST

Suite *interpreter_suite(void)
{
    Suite *suite = suite_create("interpreter");
    TCase *tests = tcase_create("asked");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, an_interpreter_says_where_it_lies_and_what_it_has);
    tcase_add_test(tests, a_script_that_chooses_among_versions_is_an_interpreter);
    tcase_add_test(tests, an_interpreter_of_a_virtual_environment_keeps_its_place);
    tcase_add_test(tests, what_is_no_interpreter_is_told_with_its_last_words);
    tcase_add_test(tests, an_interpreter_that_does_not_end_is_ended_when_it_has_said_all);
    tcase_add_loop_test(tests, what_an_interpreter_lacks_has_the_same_words_for_all, 0,
                        sizeof having / sizeof *having);
    suite_add_tcase(suite, tests);
    return suite;
}
