/* How processes are started: limits, signals and descriptors before their first instruction. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"
#include "verify/device/cuda_visible.h"
#include "verify/sandbox/helper_process.h"
#include "verify/sandbox/launch.h"
#include "verify/sandbox/sandbox.h"
#include "verify/util/clock.h"

enum { TIMES = 8, SECONDS = 60 };

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/unseen-launch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* One processor, and no preemption there: a started process comes to its first children before its parent
 * does anything else. */
static void let_it_go_first(void)
{
    const struct sched_param none = {0};
    cpu_set_t one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof one, &one), 0);
    for (int i = 0, found = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &one) && found++)
            CPU_CLR(i, &one);
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(sched_setscheduler(0, SCHED_BATCH, &none), 0);
}

/* The wait status of a line for the shell; -1 as helper_process_wait. */
static int run(const char *line, bool sandboxed, rlim_t memory, rlim_t file)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    struct sandbox sandbox = {.count = 0};
    char log[100];
    pid_t pid;
    snprintf(log, sizeof log, "%s/log", folder);
    if (sandboxed) {
        sandbox_begin(&sandbox, SANDBOX_CANDIDATE);
        sandbox_lend(&sandbox, folder);
        ck_assert(sandbox_end(&sandbox));
    }
    const char *const words[] = {"sh", "-c", line, NULL};
    memcpy(sandbox.argv + sandbox.count, words, sizeof words);
    const struct helper_process confined = {
        .argv = sandbox.argv, .environment = environment, .log = log, .memory = memory, .file = file};
    ck_assert_int_eq(helper_process_start(&pid, &confined), 0);
    return helper_process_wait(pid, clock_seconds() + SECONDS);
}

static off_t size_of(const char *name)
{
    char path[100];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* Its first child writes at once. */
static void check_file(bool sandboxed)
{
    char line[200];
    let_it_go_first();
    for (int i = 0; i < TIMES; i++) {
        snprintf(line, sizeof line, "(exec head -c 1000000 /dev/zero >%s/written); :", folder);
        run(line, sandboxed, 0, 1 << 16);
        ck_assert_int_ge(size_of("written"), 0);
        ck_assert_msg(size_of("written") <= 1 << 16, "%ld bytes were written; at most %d may be",
                      (long)size_of("written"), 1 << 16);
    }
}

/* And allocates: its file stays empty where it has found no memory. */
static void check_memory(bool sandboxed)
{
    char line[200];
    let_it_go_first();
    for (int i = 0; i < TIMES; i++) {
        snprintf(line, sizeof line,
                 "(exec dd if=/dev/zero of=%s/read bs=300M count=1 status=none); :", folder);
        run(line, sandboxed, (rlim_t)200 << 20, 0);
        ck_assert_msg(size_of("read") <= 0, "%ld bytes were held at once; at most %d may be",
                      (long)size_of("read"), 200 << 20);
    }
}

START_TEST(the_first_child_of_what_is_started_has_its_limits)
{
    if (_i == 0)
        check_file(false);
    else
        check_memory(false);
}
END_TEST

START_TEST(so_has_the_first_child_of_a_sandbox)
{
    if (!sandbox_works())
        SKIP_TEST("bubblewrap does not work here");
    if (_i == 0)
        check_file(true);
    else
        check_memory(true);
}
END_TEST

/* The limits of the tool's parent may be lower than the requested ones. */
START_TEST(a_limit_above_our_own_is_our_own)
{
    const struct rlimit own = {1 << 16, 1 << 16};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &own), 0);
    ck_assert_int_eq(run("[ $(ulimit -H -f) = 128 ] && [ $(ulimit -c) = 0 ]", false, 0, 1 << 20), 0);
}
END_TEST

/* `yes | head` ends by SIGPIPE, which a tool that writes to pipes ignores. */
START_TEST(signals_that_we_ignore_or_block_are_not_lost_on_others)
{
    sigset_t some;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &some, NULL), 0);
    const int piped = run("kill -PIPE $$; exit 3", false, 0, 0),
              ended = run("kill -TERM $$; exit 3", false, 0, 0);
    ck_assert(WIFSIGNALED(piped) && WTERMSIG(piped) == SIGPIPE);
    ck_assert(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGTERM);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &some), 0);
    ck_assert(sigismember(&some, SIGTERM) && !sigismember(&some, SIGINT));
}
END_TEST

/* Descriptors that were opened without O_CLOEXEC, by a library, say. */
START_TEST(nothing_of_ours_is_open_there)
{
    ck_assert_int_ge(fcntl(open("/dev/null", O_RDONLY), F_DUPFD, 40), 0);
    ck_assert_int_eq(run("cd /proc/$$/fd && [ -e 2 ] && [ ! -e 3 ] && [ ! -e 40 ]", false, 0, 0), 0);
}
END_TEST

START_TEST(the_gpu_in_use_is_the_one_that_is_seen_there)
{
    char *environment[20] = {NULL}, *again[20] = {NULL};
    setenv("CUDA_VISIBLE_DEVICES", "2,3", 1);
    ck_assert_int_eq(cuda_visible_ordinal(1), 1);
    ck_assert_int_gt(launch_environment(environment, false, 1), 0);
    cuda_visible_set("GPU-00000000-1111-2222-3333-444444444444", 3);
    ck_assert_int_eq(cuda_visible_ordinal(1), 0);
    ck_assert_int_eq(cuda_visible_node(), 3);
    ck_assert_int_gt(launch_environment(again, false, 1), 0);
    bool before = false, after = false;
    for (int i = 0; i < 20; i++) {
        before = before || (environment[i] && strcmp(environment[i], "CUDA_VISIBLE_DEVICES=2,3") == 0);
        after = after || (again[i] && strcmp(again[i], "CUDA_VISIBLE_DEVICES="
                                                       "GPU-00000000-1111-2222-3333-444444444444") == 0);
        free(environment[i]);
        free(again[i]);
    }
    ck_assert(before && after);
    cuda_visible_all();
    ck_assert_int_eq(cuda_visible_ordinal(1), 1);
    ck_assert_int_lt(cuda_visible_node(), 0);
    ck_assert_ptr_null(cuda_visible_uuid());
}
END_TEST

/* Among the GPUs that this process was given, by whatever name. */
START_TEST(a_gpu_is_chosen_among_those_that_were_given)
{
    static const struct {
        const char *given;
        int number;
        const char *seen; /* NULL: there is none */
    } choices[] = {
        {NULL, 0, "0"},  {NULL, 3, "3"},   {"2,5", 0, "2"},
        {"2,5", 1, "5"}, {"2,5", 2, NULL}, {"2", 1, NULL},
        {"", 0, ""},     {"", 1, NULL},    {"GPU-6a,GPU-7b,MIG-8c", 2, "MIG-8c"},
    };
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (choices[_i].given)
        setenv("CUDA_VISIBLE_DEVICES", choices[_i].given, 1);
    ck_assert_int_lt(cuda_visible_chosen(), 0);
    ck_assert(cuda_visible_choose(choices[_i].number) == (choices[_i].seen != NULL));
    if (!choices[_i].seen)
        return;
    ck_assert_str_eq(getenv("CUDA_VISIBLE_DEVICES"), choices[_i].seen);
    ck_assert(cuda_visible_choose(choices[_i].number)); /* as it is */
    ck_assert(!cuda_visible_choose(choices[_i].number + 1));
    ck_assert_str_eq(getenv("CUDA_VISIBLE_DEVICES"), choices[_i].seen);
    ck_assert_int_eq(cuda_visible_chosen(), choices[_i].number);
}
END_TEST

START_TEST(what_cannot_be_started_says_why)
{
    static const char *const missing[] = {"unseen-no-such-program", NULL}, *const denied[] = {"/etc/passwd",
                                                                                              NULL};
    pid_t pid;
    ck_assert_int_eq(launch_start(&pid, &(struct launch){.argv = missing, .output = 1}), ENOENT);
    ck_assert_int_eq(launch_start(&pid, &(struct launch){.argv = denied, .output = 1}), EACCES);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left to be reaped */
}
END_TEST

START_TEST(what_outlives_its_time_is_ended_with_what_it_started)
{
    char path[100];
    pid_t pid;
    const char *const argv[] = {"sh", "-c", "sleep 9999 & echo $!; wait", NULL};
    snprintf(path, sizeof path, "%s/log", folder);
    ck_assert_int_eq(helper_process_start(&pid, &(struct helper_process){.argv = argv, .log = path}), 0);
    while (size_of("log") <= 0)
        ck_assert_int_eq(usleep(1000), 0);
    ck_assert_int_eq(helper_process_wait(pid, clock_seconds()), -1);
    FILE *log = fopen(path, "re");
    int sleeper;
    ck_assert(log && fscanf(log, "%d", &sleeper) == 1);
    fclose(log);
    ck_assert(kill(sleeper, 0) != 0 && errno == ESRCH);
}
END_TEST

Suite *launch_suite(void)
{
    Suite *suite = suite_create("launch");
    TCase *start = tcase_create("start");
    tcase_add_checked_fixture(start, make_folder, remove_folder);
    tcase_set_timeout(start, 60);
    tcase_add_loop_test(start, the_first_child_of_what_is_started_has_its_limits, 0, 2);
    tcase_add_loop_test(start, so_has_the_first_child_of_a_sandbox, 0, 2);
    tcase_add_test(start, a_limit_above_our_own_is_our_own);
    tcase_add_test(start, signals_that_we_ignore_or_block_are_not_lost_on_others);
    tcase_add_test(start, nothing_of_ours_is_open_there);
    tcase_add_test(start, the_gpu_in_use_is_the_one_that_is_seen_there);
    tcase_add_loop_test(start, a_gpu_is_chosen_among_those_that_were_given, 0, 9);
    tcase_add_test(start, what_cannot_be_started_says_why);
    tcase_add_test(start, what_outlives_its_time_is_ended_with_what_it_started);
    suite_add_tcase(suite, start);
    return suite;
}
