/* The rules of tests/house.sh and tests/prose.py hold, and each of them can be broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli.h"
#include "skip.h"
#include "suites.h"

/* Runs a shell command in the current directory. Returns its exit status; `said` gets its output. */
static int run_command(const char *line, char *said, size_t size)
{
    char command[1400];
    snprintf(command, sizeof command, "%s >out.txt 2>&1", line);
    const int status = system(command);
    FILE *in = fopen("out.txt", "re");
    ck_assert_ptr_nonnull(in);
    said[fread(said, 1, size - 1, in)] = '\0';
    fclose(in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_house(char *said, size_t size)
{
    char line[1200];
    snprintf(line, sizeof line, "sh '%s'", cli_repository("tests/house.sh"));
    return run_command(line, said, size);
}

START_TEST(the_house_keeps_its_rules)
{
    char command[1200], said[20000];
    snprintf(command, sizeof command, "ln -s '%s'/* .", cli_repository(""));
    ck_assert_int_eq(system(command), 0);
    const int status = run_house(said, sizeof said);
    ck_assert_msg(status == 0 && said[0] == '\0', "%s", said);
}
END_TEST

static const struct {
    const char *path, *line;
} breaks[] = {
    {"gen/rules/x.h", "#include \"gen/draw/draw_internal.h\""},
    {"verify/selftest/x.c", "#include \"../session/session_internal.h\""},
    {"problems/softmax/problem.c", "#include \"gen/draw/draw.h\""},
    {"problems/softmax/problem.c", "#include \"reference/judge.h\""},
    {"problems/softmax/problem.c", "#include \"../problem.h\""},
    {"problems/softmax/reference_y.h", "#include \"../gemm_reference.h\""},
    {"gen/draw/x.c", "#include \"reference/judge.h\""},
    {"gen/draw/x.c", "#include \"verify/util/clock.h\""},
    {"gen/predicates/x.c", "#include \"gen/hypotheses/evidence.h\""},
    {"gen/hypotheses/x.h", "#include \"../rules/explain.h\""},
    {"reference/x.cu", "#include \"gen/draw/draw.h\""},
    {"reference/x.h", "#include \"../verify/device/memory.h\""},
    {"reports/x.c", "#include \"verify/session/run.h\""},
    {"reports/x.c", "#include \"gen/contract/space.h\""},
    {"verify/session/x.c", "#include \"verify/cli/options.h\""},
    {"verify/session/judge.c", "#include \"buffers.h\""},
    {"verify/session/judge.h", "#include \"verify/worker/child.h\""},
    {"verify/device/x.cu", "#include \"../cli/show.h\""},
    {"verify/util/x.h", "#include \"verify/device/device.h\""},
    {"verify/worker/x.c", "#include \"verify/session/run.h\""},
    {"verify/runner/x.c", "#include \"verify/worker/child.h\""},
    {"verify/cli/x.c", "#include \"tests/support/cli.h\""},
};

START_TEST(an_include_against_the_arrows_is_found)
{
    char said[4000];
    ck_assert_int_eq(
        system("mkdir -p gen/draw gen/predicates gen/hypotheses gen/rules reference reports tests "
               "problems/softmax verify/cli "
               "verify/selftest verify/session verify/device verify/util verify/worker verify/runner"),
        0);
    cli_put(breaks[_i].path, "#include \"x.h\"\n");
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    cli_put(breaks[_i].path, breaks[_i].line);
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_msg(strstr(said, breaks[_i].path) && strstr(said, "\n---> "), "%s", said);
}
END_TEST

static void put_lines(const char *path, const char *first, int lines, const char *last)
{
    FILE *out = fopen(path, "we");
    ck_assert_ptr_nonnull(out);
    fputs(first, out);
    for (int i = 0; i < lines; i++)
        fputs("    a++;\n", out);
    fputs(last, out);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(a_long_file_and_a_long_function_are_found)
{
    char said[4000];
    ck_assert_int_eq(system("mkdir -p gen/draw"), 0);
    put_lines("gen/draw/x.c", "void x(void)\n{\n", 50, "}\n");
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    put_lines("gen/draw/x.c", "void x(void)\n{\n", 51, "}\n");
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "gen/draw/x.c:2: a function of 51 lines"));
    put_lines("gen/draw/x.c", "", 400, "");
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    put_lines("gen/draw/x.c", "", 401, "");
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, "gen/draw/x.c: 401 lines"));
}
END_TEST

START_TEST(a_long_function_in_python_is_found)
{
    char said[4000];
    ck_assert_int_eq(system("mkdir -p verify/python"), 0);
    put_lines("verify/python/x.py", "def x(\n    a,\n):\n", 48, "\n\nprint(x)\n");
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    put_lines("verify/python/x.py", "y = 1\ndef x(\n    a,\n):\n", 49, "\n\nprint(x)\n");
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_msg(strstr(said, "verify/python/x.py:2: a function of 51 lines"), "%s", said);
}
END_TEST

START_TEST(a_long_line_is_found)
{
    static const char *const path[] = {"gen/draw/x.h", "tests/python/x.py"};
    char said[4000], line[200];
    ck_assert_int_eq(system("mkdir -p gen/draw tests/python"), 0);
    snprintf(line, sizeof line, "\n%108s\xc3\xa4#\n", ""); /* a character of two bytes */
    cli_put(path[_i], line);
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    snprintf(line, sizeof line, "\n%110s#\n", "");
    cli_put(path[_i], line);
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_msg(strstr(said, path[_i]) && strstr(said, ":2: above 110 columns, as 1 lines"), "%s", said);
}
END_TEST

/* A length above the limit, the row that admits it, and one that is a line short. */
START_TEST(a_ceiling_admits_its_length_and_no_more)
{
    char said[4000];
    ck_assert_int_eq(system("mkdir -p gen/draw tests"), 0);
    put_lines("gen/draw/x.c", "", 410, "");
    cli_put("tests/house.ceilings", "file gen/draw/x.c 410\n");
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    cli_put("tests/house.ceilings", "file gen/draw/x.c 409\n");
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_msg(strstr(said, "gen/draw/x.c: 410, above its ceiling of 409"), "%s", said);
    put_lines("gen/draw/x.c", "", 400, "");
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_msg(strstr(said, "gen/draw/x.c: nothing needs this ceiling"), "%s", said);
}
END_TEST

/* By its name, and by a NUL byte under the name of a text. */
START_TEST(a_tracked_binary_is_found)
{
    static const char *const path[] = {"tests/x.whl", "doc/x.md"};
    char said[4000], command[200];
    if (system("command -v git >/dev/null") != 0)
        SKIP_TEST("there is no git");
    ck_assert_int_eq(
        system("git init -q . && mkdir -p tests doc && printf '\\0' >doc/x.png && : >doc/empty && "
               "git add doc"),
        0);
    ck_assert_msg(run_house(said, sizeof said) == 0, "%s", said);
    snprintf(command, sizeof command, "printf '%s' >%s && git add %s", _i ? "a\\0" : "text", path[_i],
             path[_i]);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(run_house(said, sizeof said), 1);
    ck_assert_msg(strstr(said, path[_i]) && !strstr(said, "doc/x.png"), "%s", said);
}
END_TEST

static int run_prose(const char *file, char *said, size_t size)
{
    char line[1200];
    snprintf(line, sizeof line, "python3 '%s' --check %s", cli_repository("tests/prose.py"), file);
    return run_command(line, said, size);
}

#define FIVE "one two three four five "
#define SIX_AND_TWENTY FIVE FIVE FIVE FIVE FIVE "six. "
#define SIX_AND_FORTY FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE "six. "
#define SHORT "A short sentence stands here. "
#define TEN_SHORT SHORT SHORT SHORT SHORT SHORT SHORT SHORT SHORT SHORT SHORT

/* A file that passes, the same file with one fault, and the words that must name the fault. */
static const struct {
    const char *path, *good, *bad, *expected;
} prose[] = {
    {"p90.md", TEN_SHORT "O" SIX_AND_TWENTY "\n", SHORT "O" SIX_AND_TWENTY "\n", "p90.md:1: 26 words"},
    {"most.md", TEN_SHORT "\n", TEN_SHORT "\n\nO" SIX_AND_FORTY "\n", "most.md:3: 46 words"},
    {"clause.md", "The candidate is judged here.\n", "What is drawn is judged here.\n",
     "clause.md:1: 6 words, a clause as subject"},
    {"table.md", "| What is drawn is judged here. |\n\n    What is code is no sentence.\n\n" SHORT "\n",
     SHORT "\n- Whoever waits goes on then.\n", "table.md:2: 5 words, a clause as subject"},
    {"comment.c", "/* " SHORT " */ char *s = \"/* What is in a string is no comment. */\";\n",
     "int x;\n// Those that wait go on then.\n", "comment.c:2: 6 words, a clause as subject"},
    {"docstring.py", "'''" SHORT "'''\ns = 'What is in a string is no docstring.'\n",
     "def f():\n    '''What is drawn is judged.'''\n", "docstring.py:2: 5 words, a clause as subject"},
};

START_TEST(prose_that_is_hard_to_read_is_found)
{
    char said[4000];
    if (system("command -v python3 >/dev/null") != 0)
        SKIP_TEST("there is no python3");
    cli_put(prose[_i].path, prose[_i].good);
    ck_assert_msg(run_prose(prose[_i].path, said, sizeof said) == 0, "%s", said);
    cli_put(prose[_i].path, prose[_i].bad);
    ck_assert_int_eq(run_prose(prose[_i].path, said, sizeof said), 1);
    ck_assert_msg(strstr(said, prose[_i].expected) && strstr(said, "\n---> "), "%s", said);
}
END_TEST

START_TEST(the_prose_check_refuses_a_path_that_is_not_there)
{
    char said[4000];
    if (system("command -v python3 >/dev/null") != 0)
        SKIP_TEST("there is no python3");
    ck_assert_int_eq(run_prose("missing.md", said, sizeof said), 2);
    ck_assert_msg(strstr(said, "missing.md does not exist") && strstr(said, "\n---> "), "%s", said);
    cli_put("paths", "# a comment\nnothing/*.md\n");
    ck_assert_int_eq(run_prose("--paths paths", said, sizeof said), 2);
    ck_assert_msg(strstr(said, "nothing matches nothing/*.md"), "%s", said);
}
END_TEST

Suite *house_suite(void)
{
    Suite *suite = suite_create("house");
    TCase *tests = tcase_create("rules");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_test(tests, the_house_keeps_its_rules);
    tcase_add_loop_test(tests, an_include_against_the_arrows_is_found, 0,
                        (int)(sizeof breaks / sizeof *breaks));
    tcase_add_test(tests, a_long_file_and_a_long_function_are_found);
    tcase_add_test(tests, a_long_function_in_python_is_found);
    tcase_add_loop_test(tests, a_long_line_is_found, 0, 2);
    tcase_add_test(tests, a_ceiling_admits_its_length_and_no_more);
    tcase_add_loop_test(tests, a_tracked_binary_is_found, 0, 2);
    tcase_add_loop_test(tests, prose_that_is_hard_to_read_is_found, 0, (int)(sizeof prose / sizeof *prose));
    tcase_add_test(tests, the_prose_check_refuses_a_path_that_is_not_there);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, share_parts_case());
    suite_add_tcase(suite, share_again_case());
    return suite;
}
