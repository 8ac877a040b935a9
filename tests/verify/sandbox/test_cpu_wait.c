/* A candidate that gets no processor time does not hang. The test and all its processes share one core with
 * busy loops. Each is in a session of its own, so that the kernel gives each an equal share. */
#include "child_fixture.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suites.h"
#include "verify/sandbox/helper_process.h"
#include "verify/util/clock.h"

enum { LOOPS = 3 };

static pid_t loop[LOOPS];
static cpu_set_t before;

static void crowd(void)
{
    cpu_set_t one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < LOOPS; i++) {
        loop[i] = fork();
        if (loop[i] == 0) {
            setsid();
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves no loops behind */
            for (;;)
                __asm__ volatile("");
        }
    }
}

static void disperse(void)
{
    for (int i = 0; i < LOOPS; i++) {
        kill(loop[i], SIGKILL);
        waitpid(loop[i], NULL, 0);
    }
    sched_setaffinity(0, sizeof before, &before);
}

/* 0.4 s of computing take about 1.6 s here. */
START_TEST(a_starved_call_is_given_the_time_that_it_waited_for_a_core)
{
    int returned = -1;
    const double start = clock_seconds();
    ck_assert_msg(fixture_run("burns", PLACE_LOW, &returned) == CHILD_OK, "%s", it.text);
    ck_assert_int_eq(returned, 0);
    const double alone_limit = 0.6;
    child_stop(it.child);
    fixture_start("burns");
    ck_assert_msg(fixture_call(PLACE_LOW, alone_limit, &returned) == CHILD_OK, "%s", it.text);
    ck_assert_double_gt(clock_seconds() - start, 2 * alone_limit);
}
END_TEST

START_TEST(a_call_that_spins_without_end_ends_at_the_ceiling_at_last)
{
    int returned;
    const double start = clock_seconds();
    fixture_start("spins");
    ck_assert_int_eq(fixture_call(PLACE_LOW, 0.3, &returned), CHILD_TIMEOUT);
    ck_assert_double_lt(clock_seconds() - start, 10 * 0.3 + 2);
    ck_assert_ptr_nonnull(strstr(it.text, "no answer within 0.3 s"));
}
END_TEST

START_TEST(a_call_that_sleeps_waits_for_nobody)
{
    int returned;
    fixture_start("sleeps");
    const double start = clock_seconds();
    ck_assert_int_eq(fixture_call(PLACE_LOW, 0.5, &returned), CHILD_TIMEOUT);
    ck_assert_double_lt(clock_seconds() - start, 0.5 * 10 / 2); /* the test itself waits for the core, too */
    ck_assert_str_eq(it.text, "no answer within 0.5 s");
}
END_TEST

/* For an interpreter of shell commands that counts; alone it takes this long. */
static double count_up(double timeout, int *status)
{
    static const char *const argv[] = {"sh", "-c", "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done", NULL};
    extern char **environ;
    const double start = clock_seconds();
    pid_t pid;
    ck_assert_int_eq(
        helper_process_start(&pid, &(struct helper_process){.argv = argv,
                                                            .environment = (const char *const *)environ,
                                                            .log = "/dev/null"}),
        0);
    *status = helper_process_wait_starved(pid, timeout);
    return clock_seconds() - start;
}

/* A compiler beside busy loops is no candidate that compiles without end. */
START_TEST(a_starved_compiler_is_given_the_time_that_it_waited_for_a_core)
{
    int status;
    const double crowded = count_up(60, &status);
    ck_assert_int_eq(status, 0);
    count_up(crowded / 2, &status); /* alone it takes a quarter */
    ck_assert_int_eq(status, 0);
    ck_assert_double_lt(count_up(crowded / 40, &status), crowded);
    ck_assert_int_eq(status, -1);
}
END_TEST

TCase *starved_case(void)
{
    TCase *tests = tcase_create("starved");
    fixture_add(tests);
    tcase_add_checked_fixture(tests, crowd, disperse);
    tcase_add_test(tests, a_starved_call_is_given_the_time_that_it_waited_for_a_core);
    tcase_add_test(tests, a_call_that_spins_without_end_ends_at_the_ceiling_at_last);
    tcase_add_test(tests, a_starved_compiler_is_given_the_time_that_it_waited_for_a_core);
    tcase_add_test(tests, a_call_that_sleeps_waits_for_nobody);
    return tests;
}
