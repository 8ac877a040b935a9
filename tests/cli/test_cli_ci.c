/* The scripts of doc/ci.md, run to the letter. */
#include "cli.h"
#include "skip.h"

#include <fnmatch.h>
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

/* The text behind "run: |", deeper than that word; and every item of a "script:". */
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
    setenv("SETS", "--contract tiny.space --seen tiny.seen --unseen 1 --seed 3 --no-explain", 1);
    setenv("GITHUB_STEP_SUMMARY", "summary.md", 1);
    cli_put_kernel("right.c", "", "0");
    cli_put_kernel("wrong.c", "", "cols == 256 ? 0.25 : 0");
    cli_put("none.c", "this is no C\n");
}

/* Both pipelines from the merge to a change that is no better, one that is worse and one that does not
 * compile. */
static void run_pipeline(int from, bool github)
{
    const char *const baseline = script_with(from, "unseen verify", "--json baseline.json");
    const char *const gate = script_with(from, "unseen verify", "--junit unseen.xml");
    const char *const compare = script_with(from, "unseen compare", "--against baseline.json");
    const char *const missing = script_with(from, "no baseline", "exit 1");
    unlink("baseline.json");
    ck_assert_int_eq(run_script(missing, "right.c"), 1); /* the gate fails closed */
    ck_assert(holds("out.txt", "no baseline") && holds("out.txt", "::error") == github);
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
    ck_assert_int_eq(count, 8);
    run_pipeline(0, true);
    cli_put("unseen.md", "# softmax\n");
    ck_assert_int_eq(run_script(script_with(0, "unseen.md", "$GITHUB_STEP_SUMMARY"), "right.c"), 0);
    ck_assert(holds("summary.md", "softmax"));
    run_pipeline(4, false);
}
END_TEST

/* --- the workflow's other parts --- */

enum { PATTERNS_MOST = 8 };

/* The lines of "path: |" of the step that uploads, without their indent. */
static int read_patterns(char patterns[PATTERNS_MOST][80])
{
    char line[LINE];
    int at = -1, found = 0;
    bool uploads = false;
    FILE *in = fopen(cli_repository("doc/ci.md"), "re");
    ck_assert_ptr_nonnull(in);
    while (fgets(line, sizeof line, in)) {
        const int indent = indent_of(line);
        line[strcspn(line, "\n")] = '\0';
        if (at >= 0 && indent > at) {
            ck_assert_int_lt(found, PATTERNS_MOST);
            snprintf(patterns[found++], 80, "%.79s", line + indent);
            continue;
        }
        at = uploads && strcmp(line + indent, "path: |") == 0 ? indent : -1;
        uploads = strstr(line, "upload-artifact") ||
                  (uploads && strncmp(line + indent, "- ", 2) != 0 && indent > 0);
    }
    fclose(in);
    return found;
}

/* A pattern of upload-artifact ends with its line: a blank is a part of it. */
START_TEST(what_the_steps_write_is_uploaded)
{
    static const char *const written[] = {"unseen.json", "unseen.xml", "unseen.md", "compare.json"};
    char patterns[PATTERNS_MOST][80];
    const int found = read_patterns(patterns);
    ck_assert_int_gt(found, 0);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        bool matched = false;
        for (int p = 0; p < found; p++)
            matched |= fnmatch(patterns[p], written[i], 0) == 0;
        ck_assert_msg(matched, "%s matches no pattern", written[i]);
    }
}
END_TEST

/* A key with a runner's own name is never found again on short-lived runners. */
START_TEST(a_baseline_is_found_by_the_kind_of_machine)
{
    char command[1400];
    snprintf(command, sizeof command,
             "! grep -nE 'key.*(runner\\.name|CI_RUNNER_ID)' %s && grep -c 'key.*GPU' %s",
             cli_repository("doc/ci.md"), cli_repository("doc/ci.md"));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Both blocks of the page are YAML, with the jobs that the page names. */
START_TEST(the_workflows_are_yaml)
{
    char command[2000];
    if (system("python3 -c 'import yaml' 2>/dev/null") != 0)
        SKIP_TEST("python3 has no yaml");
    snprintf(
        command, sizeof command,
        "python3 -c \"import re, yaml; page = open('%s').read(); "
        "github, gitlab = [yaml.safe_load(b) for b in re.findall(r'\\`\\`\\`yaml\\n(.*?)\\`\\`\\`', page, "
        "re.S)]; "
        "steps = github['jobs']['gate']['steps']; "
        "up = [s for s in steps if 'upload' in s.get('uses', '')][0]; "
        "assert up['if'] == 'always()' and up['with']['path'].split() == up['with']['path'].splitlines(); "
        "keys = [s['with']['key'] for j in github['jobs'].values() for s in j['steps'] if 'cache' in "
        "s.get('uses', '')]; "
        "assert len(keys) == 2 and keys[0].startswith(keys[1]); "
        "assert gitlab['gate']['script'] and gitlab['baseline']['script']\"",
        cli_repository("doc/ci.md"));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

TCase *cli_ci_case(void)
{
    TCase *tests = tcase_create("ci");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_scripts_gate_a_kernel);
    tcase_add_test(tests, what_the_steps_write_is_uploaded);
    tcase_add_test(tests, a_baseline_is_found_by_the_kind_of_machine);
    tcase_add_test(tests, the_workflows_are_yaml);
    return tests;
}
