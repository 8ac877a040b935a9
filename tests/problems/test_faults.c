/* Known-bad kernels, stored as patches of honest ones. Every patch is short, has a comment of its fault, and
 * fits its base to the line. A patch that does not fit is refused with a message that names it. */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "suites.h"

enum { MOST_LINES = 36, TYPICAL_LINES = 20, LINE = 512 };

static glob_t patches; /* problems/NAME/faults/KERNEL.patch */

/* Runs a line of shell; cli.status and cli.err hold its result. */
static void run_line(const char *line)
{
    char command[6000];
    size_t size = 0;
    snprintf(command, sizeof command, "{ %s; } >out.txt 2>err.txt", line);
    const int status = system(command);
    cli.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    free(cli.err);
    cli.err = NULL;
    FILE *in = fopen("err.txt", "r");
    ck_assert(in != NULL);
    if (getdelim(&cli.err, &size, '\0', in) < 0)
        cli.err[0] = '\0';
    fclose(in);
}

/* --- what is kept --- */

struct outline {
    int lines, hunks;
    int loose; /* hunks without a line that the base must hold */
    char problem[32], verdict[24], fault[64], outcomes[96], base[128];
};

static void read_outline(const char *patch, struct outline *o)
{
    char line[LINE];
    int held = 1;
    FILE *in = fopen(patch, "r");
    ck_assert(in != NULL);
    for (memset(o, 0, sizeof *o); fgets(line, sizeof line, in); o->lines++) {
        sscanf(line, "// problem: %31s", o->problem);
        sscanf(line, "// verdict: %23s", o->verdict);
        sscanf(line, "// fault: %63[^\n]", o->fault);
        sscanf(line, "// outcomes: %95[^\n]", o->outcomes);
        sscanf(line, "// base: %127s", o->base);
        if (line[0] == '@') {
            o->loose += !held;
            o->hunks++;
            held = 0;
        }
        held |= line[0] == ' ' || line[0] == '-';
    }
    o->loose += !held;
    fclose(in);
}

START_TEST(a_fault_is_a_header_a_base_and_a_few_lines)
{
    char base[LINE];
    struct outline o;
    const char *patch = patches.gl_pathv[_i], *name = patch + strlen("problems/");
    read_outline(patch, &o);
    ck_assert_msg(strncmp(o.problem, name, strcspn(name, "/")) == 0, "%s: problem %s", patch, o.problem);
    ck_assert_msg(o.verdict[0] && o.fault[0] && o.outcomes[0], "%s: a line of its header is missing", patch);
    snprintf(base, sizeof base, "problems/%s/%s", o.problem, o.base);
    ck_assert_msg(o.base[0] && access(base, R_OK) == 0, "%s: there is no base '%s'", patch, base);
    ck_assert_msg(o.hunks > 0 && o.loose == 0, "%s: %d hunks, %d of them with added lines alone", patch,
                  o.hunks, o.loose);
    ck_assert_msg(o.lines <= MOST_LINES, "%s: %d lines, at most %d are read at a glance", patch, o.lines,
                  MOST_LINES);
}
END_TEST

START_TEST(faults_are_mostly_much_shorter)
{
    size_t all = 0;
    for (size_t i = 0; i < patches.gl_pathc; i++) {
        struct outline o;
        read_outline(patches.gl_pathv[i], &o);
        all += (size_t)o.lines;
    }
    ck_assert_uint_le(all, patches.gl_pathc * TYPICAL_LINES);
}
END_TEST

START_TEST(a_fault_fits_its_base_and_is_what_the_battery_runs)
{
    char line[4 * LINE];
    const char *patch = patches.gl_pathv[_i], *name = patch + strlen("problems/"),
               *kernel = strrchr(patch, '/') + 1;
    snprintf(line, sizeof line,
             "cd '%s' && sh tests/fault.sh %s $TMPDIR/made && cmp $TMPDIR/made build/faults/%.*s/%.*s",
             cli_repository(""), patch, (int)strcspn(name, "/"), name,
             (int)(strlen(kernel) - strlen(".patch")), kernel);
    run_line(line);
    ck_assert_msg(cli.status == 0 && cli.err[0] == '\0', "%s", cli.err);
}
END_TEST

/* --- what is refused --- */

static const char base[] =
    "// problem: toy\n// verdict: general\n\n#include \"../../candidate.h\"\n\nint toy(int a)\n"
    "{\n    int b = a;\n    return b;\n}\n";
#define HEADER "// problem: toy\n// verdict: broken\n// fault: one more\n// outcomes: wrong\n"

/* Makes toy.c from honest/plain.c and a patch of it. */
static void make_toy(const char *source, const char *patch)
{
    char line[LINE];
    run_line("mkdir -p problems/toy/honest problems/toy/faults build/faults/toy");
    cli_put("problems/toy/honest/plain.c", source);
    cli_put("problems/toy/faults/toy.c.patch", patch);
    cli_put("build/faults/toy/toy.c", "an old one");
    snprintf(line, sizeof line, "sh '%s' problems/toy/faults/toy.c.patch build/faults/toy/toy.c",
             cli_repository("tests/fault.sh"));
    run_line(line);
}

static void expect_refused(const char *found)
{
    ck_assert_int_eq(cli.status, 1);
    ck_assert_msg(strncmp(cli.err, "problems/toy/faults/toy.c.patch: ", 33) == 0, "%s", cli.err);
    ck_assert_msg(strstr(cli.err, found) != NULL, "no '%s' in: %s", found, cli.err);
    ck_assert_msg(strstr(cli.err, "\n---> ") != NULL, "no hint in: %s", cli.err);
    run_line("! ls build/faults/toy/*"); /* nothing is left that could be taken for a kernel */
    ck_assert_int_eq(cli.status, 0);
}

START_TEST(a_fault_has_its_own_header_and_includes_what_its_base_does)
{
    make_toy(base, HEADER "// base: honest/plain.c\n@@ -9 +9 @@\n-    return b;\n+    return b + 1;\n");
    ck_assert_msg(cli.status == 0 && cli.err[0] == '\0', "%s", cli.err);
    cli_put("expected.c",
            HEADER "// base: honest/plain.c\n\n"
                   "#include \"../../../problems/toy/honest/../../candidate.h\"\n\nint toy(int a)\n{\n"
                   "    int b = a;\n    return b + 1;\n}\n");
    run_line("cmp expected.c build/faults/toy/toy.c");
    ck_assert_int_eq(cli.status, 0);
}
END_TEST

START_TEST(a_fault_that_its_base_no_longer_fits_is_refused)
{
    make_toy(base, HEADER "// base: honest/plain.c\n@@ -9 +9 @@\n-    return a;\n+    return a + 1;\n");
    expect_refused("it does not fit its base, problems/toy/honest/plain.c");
}
END_TEST

START_TEST(a_fault_whose_place_has_moved_is_refused)
{
    make_toy(base, HEADER "// base: honest/plain.c\n@@ -8 +8 @@\n-    return b;\n+    return b + 1;\n");
    expect_refused("it does not fit its base, problems/toy/honest/plain.c");
}
END_TEST

START_TEST(a_fault_follows_a_base_whose_lines_have_moved)
{
    char line[3 * LINE];
    make_toy(base, HEADER "// base: honest/plain.c\n@@ -4,0 +5 @@\n+\n@@ -8,2 +9,2 @@ int  toy(int a)\n     "
                          "return b;\n-}\n+} //\n");
    expect_refused("it does not fit its base, problems/toy/honest/plain.c");
    snprintf(line, sizeof line, "sh '%s' --renumber problems/toy/faults/toy.c.patch",
             cli_repository("tests/fault.sh"));
    run_line(line);
    ck_assert_msg(cli.status == 0 && cli.err[0] == '\0', "%s", cli.err);
    run_line("grep -qx '@@ -4,0 +5 @@' problems/toy/faults/toy.c.patch &&"
             " grep -q '^@@ -9,2 +10,2 @@ int' problems/toy/faults/toy.c.patch");
    ck_assert_int_eq(cli.status, 0);
}
END_TEST

START_TEST(a_fault_that_was_cut_off_is_refused)
{
    make_toy(base, HEADER "// base: honest/plain.c\n@@ -8,2 +8,2 @@\n     int b = a;\n-    return b;\n");
    expect_refused("it does not fit its base, problems/toy/honest/plain.c");
    make_toy(base, HEADER "// base: honest/plain.c\n");
    expect_refused("it does not fit its base, problems/toy/honest/plain.c");
}
END_TEST

START_TEST(a_fault_without_a_base_is_refused)
{
    make_toy(base, HEADER "@@ -9 +9 @@\n-    return b;\n+    return b + 1;\n");
    expect_refused("no line '// base: FILE'");
    make_toy(base, HEADER "// base: honest/fancy.c\n@@ -9 +9 @@\n-    return b;\n+    return b + 1;\n");
    expect_refused("problems/toy/honest/fancy.c, does not exist");
}
END_TEST

static TCase *refused_case(void)
{
    TCase *tcase = tcase_create("refused");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_add_test(tcase, a_fault_has_its_own_header_and_includes_what_its_base_does);
    tcase_add_test(tcase, a_fault_that_its_base_no_longer_fits_is_refused);
    tcase_add_test(tcase, a_fault_whose_place_has_moved_is_refused);
    tcase_add_test(tcase, a_fault_follows_a_base_whose_lines_have_moved);
    tcase_add_test(tcase, a_fault_that_was_cut_off_is_refused);
    tcase_add_test(tcase, a_fault_without_a_base_is_refused);
    return tcase;
}

Suite *faults_suite(void)
{
    Suite *suite = suite_create("faults");
    TCase *kept = tcase_create("kept"), *fits = tcase_create("fits");
    glob("problems/*/faults/*.patch", 0, NULL, &patches);
    const int count = (int)patches.gl_pathc;
    tcase_add_test(kept, faults_are_mostly_much_shorter);
    tcase_add_loop_test(kept, a_fault_is_a_header_a_base_and_a_few_lines, 0, count);
    tcase_add_checked_fixture(fits, cli_setup, cli_teardown);
    tcase_add_loop_test(fits, a_fault_fits_its_base_and_is_what_the_battery_runs, 0, count);
    suite_add_tcase(suite, kept);
    suite_add_tcase(suite, fits);
    suite_add_tcase(suite, refused_case());
    return suite;
}
