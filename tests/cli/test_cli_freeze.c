/* unseen pin: failures that every later run tries first. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_OF "--regressions", "own.regress"

static void expect_file(const char *path, const char *text)
{
    char held[4000] = "";
    FILE *in = fopen(path, "re");
    ck_assert_msg(in != NULL, "there is no %s", path);
    held[fread(held, 1, sizeof held - 1, in)] = '\0';
    fclose(in);
    ck_assert_str_eq(held, text);
}

static void expect_no_temporary(void)
{
    ck_assert_int_ne(system("ls *.tmp >/dev/null 2>&1"), 0);
}

#define HEAD "# softmax: failures found before, which every run tries first\n"

START_TEST(a_frozen_line_is_appended_with_its_cause)
{
    CLI("pin", "softmax", "cols=4099 rows=3 seed=91", FILE_OF, "--comment", "wrong: the tail\nis # dropped");
    cli_expect(0, "frozen in own.regress: 1 configuration, run first from now on");
    CLI("pin", "softmax", "rows=2 cols=7 input=wide", FILE_OF);
    cli_expect(0, "frozen in own.regress: 2 configurations, run first from now on");
    expect_file("own.regress", HEAD "rows=3 cols=4099 input=normal seed=91  # wrong: the tail is # dropped\n"
                                    "rows=2 cols=7 input=wide seed=0\n");
    expect_no_temporary();
}
END_TEST

START_TEST(what_stood_in_the_file_stays_with_its_permissions)
{
    struct stat status;
    cli_put("own.regress", "# mine\n\nrows=9   cols=9 # nine"); /* without a last newline */
    ck_assert_int_eq(chmod("own.regress", 0604), 0);
    ck_assert_int_eq(symlink("own.regress", "link.regress"), 0);
    CLI("pin", "softmax", "rows=2 cols=7", "--regressions", "link.regress");
    cli_expect(0, "2 configurations");
    expect_file("own.regress", "# mine\n\nrows=9   cols=9 # nine\nrows=2 cols=7 input=normal seed=0\n");
    ck_assert_int_eq(stat("own.regress", &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0604);
    ck_assert_int_eq(lstat("link.regress", &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
}
END_TEST

/* In a stranger's checkout the problem's own file may be a link to a file of the user's. */
START_TEST(a_planted_link_is_not_frozen_through)
{
    CLI("new", "mine", "--like", "softmax");
    cli_expect(0, "");
    cli_put("treasure", "# precious\n");
    ck_assert_int_eq(symlink(_i ? "../nowhere" : "../treasure", "mine/mine.regress"), 0);
    CLI("pin", "./mine", "rows=2 cols=7");
    cli_expect_error(2, "mine.regress is a symbolic link", "a regular file was expected", "remove it");
    expect_file("treasure", "# precious\n");
    ck_assert_int_ne(access("nowhere", F_OK), 0);
}
END_TEST

static int count_lines(const char *path)
{
    int lines = 0, c;
    FILE *in = fopen(path, "re");
    while (in && (c = fgetc(in)) != EOF)
        lines += c == '\n';
    if (in)
        fclose(in);
    return lines;
}

START_TEST(the_same_configuration_is_frozen_once_with_every_seed)
{
    CLI("pin", "softmax", "rows=2 cols=7 seed=5", FILE_OF);
    CLI("pin", "softmax", "seed=5 cols=7 input=normal rows=2", FILE_OF);
    cli_expect_error(2, "rows=2 cols=7 input=normal seed=5 is in own.regress already",
                     "a new failure was expected", "nothing needs to be done");
    CLI("pin", "softmax", "rows=2 cols=7 seed=6", FILE_OF);
    cli_expect(0, "2 configurations");
    ck_assert_int_eq(count_lines("own.regress"), 3);
}
END_TEST

START_TEST(what_no_run_would_try_is_refused)
{
    CLI("pin", "softmax", "rows=2 cols=0", FILE_OF);
    cli_expect_error(2, "cols=0", "in the contract cols is in 1..1048576", "change the value");
    CLI("pin", "softmax", "rows=40 cols=7", FILE_OF, "--contract", "tiny.space");
    cli_expect_error(2, "rows=40", "in the contract rows is in 1..32", "change the value");
    CLI("pin", "softmax", "rows=32 cols=4096 seed=3", FILE_OF);
    cli_expect_error(2, "is in the seen set", "an unseen configuration was expected",
                     "nothing needs to be done");
    CLI("pin", "gemm_fp8", "m=256 n=256 k=287", FILE_OF);
    cli_expect_error(2, "gemm_fp8.host.seen", "an unseen configuration was expected",
                     "nothing needs to be done");
    CLI("pin", "softmax", "rows=2 cols=x", FILE_OF);
    cli_expect_error(2, "configuration: cols=x", "a whole number was expected", "cols=4099");
    CLI("pin", "softmax");
    cli_expect_error(2, "found 1 of the arguments", "expected PROBLEM CONFIGURATION", "unseen pin --help");
    CLI("pin", "sofmax", "rows=2 cols=7", FILE_OF);
    cli_expect_error(2, "unknown problem 'sofmax'", "expected one of", "unseen list");
    CLI("pin", "softmax", "rows=2 cols=7", FILE_OF, "--contract", "nosuch.space");
    cli_expect_error(2, "nosuch.space", "expected", "check the path");
    ck_assert_int_ne(access("own.regress", F_OK), 0);
}
END_TEST

START_TEST(a_file_that_does_not_parse_is_left_alone)
{
    cli_put("own.regress", "rows=2 cols=7\nrows=2 cols=-7\n");
    CLI("pin", "softmax", "rows=3 cols=7", FILE_OF);
    cli_expect_error(2, "own.regress:2: cols=-7", "a whole number was expected", "cols=4099");
    expect_file("own.regress", "rows=2 cols=7\nrows=2 cols=-7\n");
}
END_TEST

START_TEST(where_nothing_can_be_written_the_old_file_stays)
{
    FILE *out = fopen("own.regress", "we");
    for (int i = 1; i <= 300; i++)
        fprintf(out, "rows=%d cols=7\n", i);
    fclose(out);
    ck_assert_int_eq(system("cp own.regress before"), 0);
    cli.file_limit = 4000; /* as on a full disk: a part of the new file can be written */
    CLI("pin", "softmax", "rows=301 cols=7", FILE_OF);
    cli_expect_error(3, "own.regress: cannot write the frozen failures", "File too large", "ulimit -f");
    ck_assert_int_eq(system("cmp -s own.regress before"), 0);
    expect_no_temporary();
    CLI("pin", "softmax", "rows=301 cols=7", "--regressions", "nosuch/own.regress");
    cli_expect_error(3, "nosuch/own.regress: its directory cannot be locked (No such file or directory)",
                     "a directory that may be written was expected", "--regressions");
    CLI("pin", "softmax", "rows=301 cols=7", "--regressions", "/proc/own.regress");
    cli_expect_error(3, "/proc/own.regress: cannot write the frozen failures", ": ", "path");
    CLI("pin", "softmax", "rows=301 cols=7", "--regressions", ".");
    cli_expect_error(2, ".: cannot be read (Is a directory)", "a text file was expected", "a file of lines");
}
END_TEST

/* Half of them freeze the same configuration. One may win, and no line may get lost. */
START_TEST(many_who_freeze_at_the_same_time_lose_nothing)
{
    enum { MANY = 16 };
    pid_t pid[MANY];
    int same = 0, status;
    char line[MANY][64];
    for (int i = 0; i < MANY; i++) {
        snprintf(line[i], sizeof line[i], "rows=%d cols=7", i % 2 ? i : 100);
        pid[i] = CLI_START("pin", "softmax", line[i], FILE_OF);
    }
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
        if (i % 2)
            ck_assert_int_eq(status, 0);
        else
            same += status == 0;
    }
    ck_assert_int_eq(same, 1);
    ck_assert_int_eq(count_lines("own.regress"), 1 + MANY / 2 + 1);
    expect_no_temporary();
}
END_TEST

static void expect_drawn(const json_t *results, size_t at, const char *config, bool frozen)
{
    const json_t *const one = json_array_get(results, at);
    if (config)
        ck_assert_str_eq(json_string_value(json_object_get(one, "config")), config);
    ck_assert_str_eq(json_string_value(json_object_get(one, "set")), "unseen");
    ck_assert_int_eq(strcmp(json_string_value(json_object_get(one, "why")), "frozen failure") == 0, frozen);
}

START_TEST(a_frozen_failure_is_run_before_all_other_unseen_ones)
{
    cli_put_kernel("right.c", "", "0");
    CLI("pin", "softmax", "rows=31 cols=599 input=wide seed=77", FILE_OF);
    CLI("pin", "softmax", "rows=5 cols=6 seed=78", FILE_OF);
    CLI("verify", "softmax", "right.c", TINY, FILE_OF, "--unseen", "4", "--json", "r.json");
    cli_expect(0, "general: ");
    json_t *result = cli_json("r.json");
    const json_t *results = json_object_get(result, "results");
    ck_assert_uint_eq(json_array_size(results), 6);
    expect_drawn(results, 2, "rows=31 cols=599 input=wide seed=77", true); /* after two seen ones */
    expect_drawn(results, 3, "rows=5 cols=6 input=normal seed=78", true);
    expect_drawn(results, 4, NULL, false);
    json_decref(result);
    CLI("verify", "softmax", "right.c", TINY, "--regressions", "nosuch.regress");
    cli_expect_error(2, "nosuch.regress: cannot be read", "was expected", "check the path");
    CLI("verify", "softmax", "right.c", TINY, FILE_OF, "--json", "own.regress");
    cli_expect_error(2, "own.regress is the file of frozen failures", "a file of its own", "another path");
}
END_TEST

/* A tool with shapes of its own beside it, as in a checkout: no --regressions on either side. */
START_TEST(without_a_path_it_goes_to_the_shapes_and_is_found_there)
{
    char command[3000];
    snprintf(command, sizeof command,
             "mkdir build shapes && cp '%s' build/ && cp '%s'/softmax.* shapes/ && rm -f shapes/*.regress &&"
             "build/unseen pin softmax 'rows=31 cols=599 seed=77' --comment found >out.txt &&"
             "build/unseen draw softmax --device host --unseen 3 >drawn.txt 2>err.txt &&"
             "head -1 drawn.txt | grep -q '^rows=31 cols=599 input=normal seed=77  # unseen: frozen failure'",
             cli_tool(), cli_repository("shapes"));
    ck_assert_int_eq(system(command), 0);
    expect_file("shapes/softmax.regress", HEAD "rows=31 cols=599 input=normal seed=77  # found\n");
}
END_TEST

/* At every failing allocation (tests/nothing_lost/memory_shim.c) the frozen lines stay. The last of some
 * fifty allocations are those that read and write the file. */
START_TEST(without_memory_nothing_that_was_frozen_is_lost)
{
#ifndef SANITIZED /* whose allocator is its own */
    static const char before[] = "# old\nrows=3 cols=5 input=normal seed=7\n";
    char shim[1300], at[16], held[sizeof before];
    snprintf(shim, sizeof shim, "%.*s/nothing-lost-memory.so", (int)(strrchr(cli_tool(), '/') - cli_tool()),
             cli_tool());
    ck_assert_int_eq(access(shim, R_OK), 0);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    for (int n = 36; n < 60; n++) {
        cli_put("r.regress", before);
        snprintf(at, sizeof at, "%d", n);
        setenv("LD_PRELOAD", shim, 1);
        setenv("LOST_AT", at, 1);
        CLI("pin", "softmax", "rows=2 cols=9 input=normal seed=1", "--regressions", "r.regress");
        unsetenv("LD_PRELOAD");
        FILE *file = fopen("r.regress", "re");
        ck_assert(file && fread(held, 1, sizeof before - 1, file) == sizeof before - 1);
        fclose(file);
        ck_assert_msg(memcmp(held, before, sizeof before - 1) == 0, "lost at allocation %d", n);
        ck_assert_msg(cli.status == 0 || cli.status == 3, "status %d at %d: %s", cli.status, n, cli.err);
    }
#endif
}
END_TEST

/* As `make install` lays it out. The tool runs from a place of its own, beside files of this repository. */
static void install(void)
{
    char command[6000];
    snprintf(command, sizeof command,
             "mkdir -p inst/bin inst/share/unseen elsewhere && cp %s inst/bin/unseen && ln -s %s "
             "inst/share/unseen && "
             "ln -s %s inst/share/unseen && cp -r %s inst/share/unseen",
             cli_tool(), cli_repository("problems"), cli_repository("reference"), cli_repository("shapes"));
    ck_assert_int_eq(system(command), 0);
}

START_TEST(an_installed_tool_freezes_for_its_user)
{
    install();
    ck_assert_int_eq(system("ls inst/share/unseen/shapes >before"), 0);
    ck_assert_int_eq(system("cd elsewhere && XDG_DATA_HOME=$PWD/../data ../inst/bin/unseen pin softmax "
                            "'rows=3 cols=4099 seed=91' >../out.txt 2>&1"),
                     0);
    expect_file("data/unseen/softmax.regress", HEAD "rows=3 cols=4099 input=normal seed=91\n");
    ck_assert_int_eq(system("grep -q 'frozen in .*/data/unseen/softmax.regress: 1 configuration' out.txt"),
                     0);
    ck_assert_int_eq(system("ls inst/share/unseen/shapes | cmp -s - before && test ! -e inst/shapes"), 0);
    ck_assert_int_eq(
        system("env -u HOME -u XDG_DATA_HOME inst/bin/unseen pin softmax 'rows=3 cols=7' 2>err.txt"), 3 << 8);
    ck_assert_int_eq(system("grep -q -e --regressions err.txt && test ! -e inst/shapes"), 0);
    /* both files are run first: the installed one, and the user's */
    ck_assert_int_eq(system("echo 'rows=5 cols=77 seed=4' >inst/share/unseen/shapes/softmax.regress"), 0);
    ck_assert_int_eq(
        system("cd elsewhere && XDG_DATA_HOME=$PWD/../data ../inst/bin/unseen draw softmax --device "
               "host --unseen 2 --seed 1 >../out.txt 2>&1"),
        0);
    ck_assert_int_eq(system("grep -q 'rows=3 cols=4099 input=normal seed=91  # unseen' out.txt && "
                            "grep -q 'rows=5 cols=77 input=normal seed=4  # unseen' out.txt"),
                     0);
    ck_assert_int_eq(system("cd elsewhere && HOME=$PWD/../home XDG_DATA_HOME= ../inst/bin/unseen pin softmax "
                            "'rows=3 cols=4099 seed=91' >../out.txt 2>&1"),
                     0);
    ck_assert_int_eq(access("home/.local/share/unseen/softmax.regress", R_OK), 0);
}
END_TEST

TCase *cli_freeze_case(void)
{
    TCase *tests = tcase_create("freeze");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_frozen_line_is_appended_with_its_cause);
    tcase_add_test(tests, what_stood_in_the_file_stays_with_its_permissions);
    tcase_add_loop_test(tests, a_planted_link_is_not_frozen_through, 0, 2);
    tcase_add_test(tests, the_same_configuration_is_frozen_once_with_every_seed);
    tcase_add_test(tests, what_no_run_would_try_is_refused);
    tcase_add_test(tests, a_file_that_does_not_parse_is_left_alone);
    tcase_add_test(tests, where_nothing_can_be_written_the_old_file_stays);
    tcase_add_test(tests, many_who_freeze_at_the_same_time_lose_nothing);
    tcase_add_test(tests, a_frozen_failure_is_run_before_all_other_unseen_ones);
    tcase_add_test(tests, without_memory_nothing_that_was_frozen_is_lost);
    tcase_add_test(tests, without_a_path_it_goes_to_the_shapes_and_is_found_there);
    tcase_add_test(tests, an_installed_tool_freezes_for_its_user);
    return tests;
}
