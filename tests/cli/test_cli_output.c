/* Files that cannot be written, disks that fill up, Ctrl-C, and the files that are left behind. */
#include "cli.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 10, PATIENCE_STEPS = 2000 };

static bool exists(const char *pattern)
{
    glob_t found;
    const bool any = glob(pattern, 0, NULL, &found) == 0;
    if (any)
        globfree(&found);
    return any;
}

static void pause_briefly(void)
{
    nanosleep(&(const struct timespec){0, STEP_MS * 1000000L}, NULL);
}

/* No build directory, no half-written file, no process. */
static void expect_clean(void)
{
    ck_assert_msg(!exists("unseen-*"), "a build directory is left");
    ck_assert_msg(!exists("*.tmp"), "a temporary file is left");
    ck_assert_msg(!cli_has_children(), "a process is left");
}

START_TEST(an_output_path_that_cannot_be_written_is_refused_before_the_run)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--json", "nosuch/r.json");
    cli_expect_error(3, "nosuch/r.json: cannot write the report", "No such file or directory",
                     "create the directory");
    ck_assert_str_eq(cli.out, "");
    CLI("verify", "softmax", "right.c", TINY, "--csv", ".");
    cli_expect_error(3, ".: cannot write the report", "Is a directory", "the name of a file");
    CLI("verify", "softmax", "right.c", TINY, "--csv", "right.c/r.csv");
    cli_expect_error(3, "right.c/r.csv: cannot write the report", "Not a directory", "correct the path");
    expect_clean();
}
END_TEST

START_TEST(an_output_may_not_replace_what_the_run_reads)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--json", "./right.c");
    cli_expect_error(2, "./right.c is the candidate", "expected a file of its own", "another path");
    CLI("verify", "softmax", "right.c", TINY, "--csv", "tiny.seen");
    cli_expect_error(2, "tiny.seen is the seen set", "expected a file of its own", "another path");
    CLI("verify", "softmax", "right.c", TINY, "--json", "same", "--csv", "same");
    cli_expect_error(2, "same is the JSON result", "expected a file of its own", "another path");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "1"); /* it is still there */
    ck_assert_int_eq(cli.status, 0);
}
END_TEST

START_TEST(a_full_disk_is_the_environments_fault)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "1", "--json", "/dev/full");
    cli_expect_error(3, "/dev/full: cannot write the report", "No space left", "free some space");
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "1", "--csv", "/dev/full");
    cli_expect_error(3, "/dev/full: cannot write the report", "No space left", "free some space");
    cli.stdout_to = "/dev/full";
    CLI("verify", "softmax", "right.c", TINY, "--unseen", "1");
    cli_expect_error(3, "standard output takes no more", "not all was written", "free some space");
    cli.stdout_to = "/dev/full";
    CLI("draw", "softmax", "--device", "host", "--seen");
    cli_expect_error(3, "standard output takes no more", "not all was written", "free some space");
}
END_TEST

START_TEST(a_disk_that_fills_up_during_the_run_leaves_the_last_readable_file)
{
    cli_put("small.space", "rows 1..8\ncols 1..40\ninput normal integers wide\n");
    cli_put("small.seen", "rows=4 cols=32\n");
    cli_put_kernel("right.c", "", "0");
    cli.file_limit = 80 << 10; /* room for compiling, not for 150 results */
    CLI("verify", "softmax", "right.c", TINY, "--contract", "small.space", "--seen", "small.seen", "--unseen",
        "150", "--json", "r.json");
    cli_expect_error(3, "r.json: cannot write the report", "File too large", "ulimit -f");
    cli_expect(3, "general: "); /* the findings are still printed */
    json_t *result = cli_json("r.json");
    ck_assert(json_is_true(json_object_get(result, "partial")));
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "inconclusive");
    json_decref(result);
    expect_clean();
}
END_TEST

/* Start a run of a slow candidate and wait until it has results of the unseen set. */
static pid_t start_slow(const char *jobs)
{
    cli_put_kernel("slow.c", "usleep(20000);", "0");
    const pid_t pid = CLI_START("verify", "softmax", "slow.c", TINY, "--unseen", "300", "-v", "--jobs", jobs,
                                "--json", "r.json", "--csv", "r.csv");
    for (int i = 0; i < PATIENCE_STEPS && !cli_printed("pass      unseen"); i++)
        pause_briefly();
    ck_assert(cli_printed("pass      unseen"));
    return pid;
}

static size_t lines_with(const char *start)
{
    size_t count = 0;
    for (const char *line = cli.out; *line; line += strcspn(line, "\n"), line += *line == '\n')
        count += strncmp(line, start, strlen(start)) == 0;
    return count;
}

START_TEST(ctrl_c_keeps_what_is_finished_and_leaves_no_process)
{
    const pid_t pid = start_slow(_i == 0 ? "1" : "3");
    kill(pid, SIGINT);
    cli_wait(pid);
    cli_expect(130, "inconclusive: the run was cut off (interrupted)");
    ck_assert(strstr(cli.err, "unseen: interrupted") != NULL);
    json_t *result = cli_json("r.json");
    const json_t *results = json_object_get(result, "results");
    const size_t count = json_array_size(results);
    ck_assert_uint_lt(count, 302);
    ck_assert_uint_eq(count, lines_with("pass      ")); /* the lines on the terminal are stored, and nothing
                                                         * else */
    for (size_t i = 0; i < count; i++)                  /* the process at work was killed by us, not by
                                                         * itself */
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(results, i), "outcome")), "pass");
    ck_assert(json_is_true(json_object_get(result, "partial")));
    ck_assert_str_eq(json_string_value(json_object_get(result, "partial_reason")), "interrupted");
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "inconclusive");
    json_decref(result);
    expect_clean();
}
END_TEST

START_TEST(a_killed_run_leaves_a_readable_partial_file_and_no_process)
{
    const pid_t pid = start_slow("2");
    struct stat status;
    for (int i = 0; i < PATIENCE_STEPS && !(stat("r.json", &status) == 0 && status.st_size > 4000); i++)
        pause_briefly();
    kill(pid, SIGKILL);
    cli_wait(pid);
    ck_assert_int_eq(cli.status, 1000 + SIGKILL);
    json_t *result = cli_json("r.json");
    ck_assert(json_is_true(json_object_get(result, "partial")));
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), "inconclusive");
    ck_assert_uint_ge(json_array_size(json_object_get(result, "results")), 1);
    json_decref(result);
    ck_assert_msg(!cli_has_children(), "a process is left");
    ck_assert_msg(exists("unseen-*/candidate.so"), "nothing was left to be removed");
    CLI("check", "softmax", "slow.c", "rows=1 cols=1", "--device", "host",
        "-q"); /* the next run removes it */
    ck_assert_msg(!exists("unseen-*/*"), "a directory is left");
}
END_TEST

/* A header that is a pipe blocks the compiler. */
START_TEST(ctrl_c_while_compiling_blames_nobody)
{
    cli_put("waits.c", "#include \"pipe.h\"\n");
    ck_assert_int_eq(mkfifo("pipe.h", 0600), 0);
    const pid_t pid = CLI_START("verify", "softmax", "waits.c", TINY);
    for (int i = 0; i < PATIENCE_STEPS && !exists("unseen-*/build.log"); i++)
        pause_briefly();
    ck_assert(exists("unseen-*/build.log"));
    pause_briefly();
    kill(pid, SIGINT);
    cli_wait(pid);
    ck_assert_int_eq(cli.status, 130);
    cli_expect_without("does not compile");
    expect_clean();
}
END_TEST

START_TEST(ctrl_c_ends_check_as_well)
{
    cli_put_kernel("hang.c", "for (volatile int i = 0;;) i = 0;", "0");
    const pid_t pid = CLI_START("check", "softmax", "hang.c", "rows=1 cols=1", "--device", "host");
    for (int i = 0; i < PATIENCE_STEPS && !exists("unseen-*/candidate.so"); i++)
        pause_briefly();
    for (int i = 0; i < 30; i++)
        pause_briefly();
    const time_t start = time(NULL);
    kill(pid, SIGINT);
    cli_wait(pid);
    ck_assert_int_lt(time(NULL) - start, 5); /* long before the call's own time limit */
    ck_assert_int_eq(cli.status, 130);
    ck_assert_str_eq(cli.out, "");
    expect_clean();
}
END_TEST

/* In all four the name is one of a build's directory. A directory that may belong to another program
 * stays. */
START_TEST(what_a_killed_run_left_is_removed_by_the_next)
{
    ck_assert_int_eq(system("mkdir -m 700 unseen-killed unseen-locked unseen-young unseen-others &&"
                            "touch unseen-killed/.held unseen-killed/candidate.so unseen-locked/.held.new "
                            "unseen-others/a &&"
                            "touch -d '2 minutes ago' unseen-killed unseen-locked unseen-others"),
                     0);
    cli_put_kernel("k.c", "", "0");
    CLI("check", "softmax", "k.c", "rows=2 cols=3", "--device", "host");
    ck_assert_int_eq(cli.status, 0);
    ck_assert_int_ne(access("unseen-killed", F_OK), 0);
    ck_assert_int_ne(access("unseen-locked", F_OK), 0);
    ck_assert_int_eq(access("unseen-young", F_OK), 0);
    ck_assert_int_eq(access("unseen-others/a", F_OK), 0);
}
END_TEST

/* The sender of the signal is unknown. A kernel that is the reason ends so again. */
START_TEST(a_kernel_that_ends_by_signal_9_ends_so_again_and_is_told)
{
    static const char *const always = "{ extern int kill(int, int); if (rows == 8) kill(getpid(), 9); }";
    cli_put_kernel("always.c", always, "0");
    CLI("verify", "softmax", "always.c", TINY, "--unseen", "1", "--seed", "3", "--no-explain");
    cli_expect(1, "broken: ");
    cli_expect(1, "killed by signal 9");
}
END_TEST

static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "re");
    if (stat && fscanf(stat, "%*d %*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (stat)
        fclose(stat);
    return parent;
}

/* The process below `pid` without children of its own, which is the candidate's; 0: none yet. */
static pid_t deepest_below(pid_t pid)
{
    glob_t found;
    pid_t deepest = pid;
    if (glob("/proc/[0-9]*", 0, NULL, &found) != 0)
        return 0;
    for (int depth = 0; depth < 8; depth++)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const pid_t one = atoi(found.gl_pathv[i] + strlen("/proc/"));
            if (parent_of(one) == deepest)
                deepest = one;
        }
    globfree(&found);
    return deepest == pid ? 0 : deepest;
}

/* Not a linker that is still running on a busy machine. */
static bool is_runner(pid_t pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *comm = fopen(path, "re");
    const bool is = comm && fgets(name, sizeof name, comm) && strcmp(name, "unseen-runner\n") == 0;
    if (comm)
        fclose(comm);
    return is;
}

/* A machine out of memory, or an administrator: it happens once, and the kernel is not the reason. */
START_TEST(what_somebody_kills_once_is_checked_again)
{
    cli_put_kernel("k.c", "usleep(400000);", "0");
    const pid_t pid = CLI_START("check", "softmax", "k.c", "rows=2 cols=3", "--device", "host", "-q");
    pid_t victim = 0;
    for (int i = 0; i < PATIENCE_STEPS && !exists("unseen-*/candidate.so"); i++)
        pause_briefly();
    for (int i = 0; i < 5; i++)
        pause_briefly();
    bool killed = false;
    for (int i = 0; i < PATIENCE_STEPS && !killed; i++, pause_briefly()) {
        victim = deepest_below(pid);
        killed = victim > 0 && is_runner(victim) && kill(victim, SIGKILL) == 0;
    }
    ck_assert(killed);
    cli_wait(pid);
    cli_expect(0, "pass");
}
END_TEST

TCase *cli_output_case(void)
{
    TCase *output = tcase_create("output");
    tcase_add_checked_fixture(output, cli_setup, cli_teardown);
    tcase_set_timeout(output, 60);
    tcase_add_test(output, an_output_path_that_cannot_be_written_is_refused_before_the_run);
    tcase_add_test(output, an_output_may_not_replace_what_the_run_reads);
    tcase_add_test(output, a_full_disk_is_the_environments_fault);
    tcase_add_test(output, a_disk_that_fills_up_during_the_run_leaves_the_last_readable_file);
    tcase_add_loop_test(output, ctrl_c_keeps_what_is_finished_and_leaves_no_process, 0, 2);
    tcase_add_test(output, a_killed_run_leaves_a_readable_partial_file_and_no_process);
    tcase_add_test(output, ctrl_c_while_compiling_blames_nobody);
    tcase_add_test(output, ctrl_c_ends_check_as_well);
    tcase_add_test(output, what_a_killed_run_left_is_removed_by_the_next);
    tcase_add_test(output, a_kernel_that_ends_by_signal_9_ends_so_again_and_is_told);
    tcase_add_test(output, what_somebody_kills_once_is_checked_again);
    return output;
}
