/* The scripts of doc/ci.md, run to the letter. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPTS_MOST = 16, LINE = 600 };

static char scripts[SCRIPTS_MOST][2000];
static int count;

static int indent_of(const char *line)
{
    return (int)strspn(line, " ");
}

/* What stands behind "run: |", deeper than that word; and every item of a "script:". */
static void read_scripts(void)
{
    char line[LINE];
    int run = -1, list = -1;
    FILE *in = fopen(cli_repository("doc/ci.md"), "re");
    ck_assert_ptr_nonnull(in);
    count = 0;
    while (fgets(line, sizeof line, in)) {
        const int indent = indent_of(line);
        const char *const word = line + indent + (strncmp(line + indent, "- ", 2) == 0 ? 2 : 0);
        ck_assert_int_lt(count, SCRIPTS_MOST);
        if (run >= 0 && indent > run) {
            strncat(scripts[count - 1], line, sizeof scripts[0] - strlen(scripts[count - 1]) - 1);
            continue;
        }
        run = -1;
        if (list >= 0 && indent > list && strncmp(line + indent, "- ", 2) == 0)
            snprintf(scripts[count++], sizeof scripts[0], "%s", line + indent + 2);
        else
            list = strcmp(line + indent, "script:\n") == 0 ? indent : -1;
        if (strcmp(word, "run: |\n") == 0) {
            run = (int)(word - line);
            scripts[count++][0] = '\0';
        }
    }
    fclose(in);
}

/* The script that holds both texts, the first from `from` on. */
static const char *script_with(int from, const char *a, const char *b)
{
    for (int i = from; i < count; i++)
        if (strstr(scripts[i], a) && strstr(scripts[i], b))
            return scripts[i];
    ck_abort_msg("doc/ci.md has no script with '%s' and '%s'", a, b);
    return NULL;
}

/* As both services run them: a failure ends the script. */
static int run_script(const char *script, const char *kernel)
{
    char command[1500];
    cli_put("script.sh", script);
    setenv("KERNEL", kernel, 1);
    snprintf(command, sizeof command, "PATH=$PWD/bin:$PATH sh -eu script.sh >out.txt 2>err.txt");
    const int status = system(command);
    return status >> 8;
}

static bool holds(const char *file, const char *text)
{
    char command[400];
    snprintf(command, sizeof command, "grep -q -e '%s' %s", text, file);
    return system(command) == 0;
}

static void prepare(void)
{
    char command[1400];
    read_scripts();
    snprintf(command, sizeof command, "mkdir bin && ln -s %s bin/unseen", cli_tool());
    ck_assert_int_eq(system(command), 0);
    setenv("PROBLEM", "softmax", 1);
    setenv("MACHINE", "--device host --no-timing", 1);
    setenv("SETS", "--space tiny.space --seen tiny.seen --unseen 1 --seed 3 --no-explain", 1);
    setenv("GITHUB_STEP_SUMMARY", "summary.md", 1);
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "cols == 256 ? 0.25 : 0");
    cli_put("none.c", "this is no C\n");
}

/* Both pipelines from the merge to a change that is no better, one that is worse and one that does not compile. */
static void run_pipeline(int from, bool github)
{
    const char *const baseline = script_with(from, "unseen verify", "--json baseline.json");
    const char *const gate = script_with(from, "unseen verify", "--junit unseen.xml");
    const char *const compare = script_with(from, "unseen compare", "--against baseline.json");
    unlink("baseline.json");
    ck_assert_int_eq(run_script(compare, "right.c"), 0); /* there is none yet */
    ck_assert_int_ne(access("compare.json", F_OK), 0);
    ck_assert_int_eq(run_script(baseline, "right.c"), 0);
    ck_assert_int_eq(run_script(gate, "right.c"), 0);
    ck_assert(holds("unseen.xml", "<testsuite") && holds("unseen.md", "general"));
    ck_assert(holds("out.txt", "::notice") == github);
    ck_assert_int_eq(run_script(compare, "right.c"), 0);
    ck_assert(holds("compare.json", "\"gate\": \"passed\""));
    ck_assert_int_eq(run_script(gate, "wrong.c"), 1);
    ck_assert(holds("unseen.xml", "<failure") && holds("out.txt", "::error") == github);
    ck_assert_int_eq(run_script(compare, "wrong.c"), 1);
    ck_assert(holds("compare.json", "\"gate\": \"regression\""));
    ck_assert_int_eq(run_script(gate, "none.c"), 2);
    unlink("compare.json");
}

START_TEST(the_scripts_gate_a_kernel)
{
    prepare();
    ck_assert_int_eq(count, 7);
    run_pipeline(0, true);
    cli_put("unseen.md", "# softmax\n");
    ck_assert_int_eq(run_script(script_with(0, "unseen.md", "$GITHUB_STEP_SUMMARY"), "right.c"), 0);
    ck_assert(holds("summary.md", "softmax"));
    run_pipeline(4, false);
}
END_TEST

TCase *cli_ci_case(void)
{
    TCase *tests = tcase_create("ci");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_scripts_gate_a_kernel);
    return tests;
}
