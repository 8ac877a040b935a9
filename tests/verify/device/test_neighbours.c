/* Other users of a device, and the cases in which clocks that disagree are a proof: NVML and samples are made
 * up here. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/device/other_processes.h"
#include "verify/session/clocks.h"
#include "suites.h"

static const struct device gpu = {.backend = BACKEND_CUDA, .uuid = "GPU-of-a-test"};
static char directory[64];
static int listed[8], listed_count, percent[2], asked;

static int fake_processes(const char *uuid, int *pid, int most)
{
    ck_assert_str_eq(uuid, "GPU-of-a-test");
    for (int i = 0; i < listed_count && i < most; i++)
        pid[i] = listed[i];
    return listed_count;
}

static int fake_utilization(const char *uuid)
{
    ck_assert_str_eq(uuid, "GPU-of-a-test");
    return percent[asked++ % 2];
}

static const struct nvml fake = {fake_processes, fake_utilization, 1};

static void begin(void)
{
    other_processes_ask(&fake);
    strcpy(directory, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    asked = listed_count = 0;
}

static void finish(void)
{
    char command[128];
    other_processes_ask(NULL);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static struct lease *open_lease(void)
{
    char why[400];
    const struct lease_options options = {.directory = directory, .device = gpu.uuid};
    struct lease *lease = lease_open(&options, why, sizeof why);
    ck_assert_msg(lease != NULL, "%s", why);
    return lease;
}

static void expect(enum other_processes_state state, int count, struct lease *lease, int children)
{
    const struct other_processes n = other_processes_of(&gpu, lease, children, 0);
    ck_assert_int_eq(n.state, state);
    ck_assert_int_eq(n.count, count);
}

START_TEST(a_list_with_this_process_and_its_own_is_nobody_else)
{
    const pid_t runner = fork();
    if (runner == 0)
        for (;;)
            pause();
    listed[0] = (int)getpid();
    listed[1] = (int)runner;
    listed_count = 1;
    expect(OTHER_PROCESSES_NONE, 0, NULL, 0);
    listed_count = 2;
    expect(OTHER_PROCESSES_NONE, 0, NULL, 1);
    kill(runner, SIGKILL);
    waitpid(runner, NULL, 0);
}
END_TEST

START_TEST(every_other_process_is_counted)
{
    listed[0] = (int)getpid();
    listed[1] = (int)getppid();
    listed[2] = 1;
    listed_count = 3;
    expect(OTHER_PROCESSES_SOME, 2, NULL, 1);
}
END_TEST

/* Processes of one batch rest while one of them takes times. Nobody else is excused. */
START_TEST(processes_of_the_family_do_not_count)
{
    struct lease *lease = open_lease(), *other = open_lease(); /* as another process of the batch holds it */
    ck_assert(lease_take(lease));
    listed[0] = (int)getpid();
    listed[1] = (int)getppid();
    listed_count = 2;
    expect(OTHER_PROCESSES_SOME, 1, lease, 1);
    ck_assert_int_eq(other_processes_of(&gpu, lease, 1, (int)getppid()).state, OTHER_PROCESSES_NONE);
    listed[2] = 0x7ffffff0;
    listed_count = 3;
    ck_assert_int_eq(other_processes_of(&gpu, lease, 1, (int)getppid()).state, OTHER_PROCESSES_SOME);
    listed_count = 0; /* nothing is known of them */
    ck_assert_int_eq(other_processes_of(&gpu, lease, 1, (int)getppid()).state, OTHER_PROCESSES_SOME);
    lease_close(other);
    lease_close(lease);
}
END_TEST

/* As in a container: no process, or numbers of another namespace. */
START_TEST(a_list_without_this_process_shows_only_that_there_are_more_than_ours)
{
    listed_count = -1;
    expect(OTHER_PROCESSES_UNKNOWN, 0, NULL, 1);
    listed_count = 0;
    expect(OTHER_PROCESSES_UNKNOWN, 0, NULL, 1);
    listed[0] = listed[1] = listed[2] = 0x7ffffff0;
    listed_count = 2;
    expect(OTHER_PROCESSES_UNKNOWN, 0, NULL, 1);
    listed_count = 3;
    expect(OTHER_PROCESSES_SOME, 1, NULL, 1);
}
END_TEST

START_TEST(another_unseen_on_the_device_is_a_neighbour_whatever_nvml_says)
{
    struct lease *lease = open_lease();
    listed_count = 0;
    ck_assert(lease_take(lease));
    expect(OTHER_PROCESSES_UNKNOWN, 0, lease, 1);
    struct lease *other = open_lease(); /* through a file of its own: as another process would hold it */
    expect(OTHER_PROCESSES_SOME, 0, lease, 1);
    lease_close(other);
    expect(OTHER_PROCESSES_UNKNOWN, 0, lease, 1);
    lease_close(lease);
}
END_TEST

START_TEST(a_device_is_idle_when_nothing_ran_while_nothing_of_ours_did)
{
    percent[0] = 80; /* ours, a moment ago */
    percent[1] = 0;
    ck_assert_int_eq(other_processes_idle(&gpu), IDLE_YES);
    percent[1] = 3;
    ck_assert_int_eq(other_processes_idle(&gpu), IDLE_NO);
    percent[0] = percent[1] = -1;
    ck_assert_int_eq(other_processes_idle(&gpu), IDLE_UNKNOWN);
}
END_TEST

START_TEST(without_nvml_nothing_is_known)
{
    other_processes_ask(NULL);
    const struct device none = {.backend = BACKEND_CUDA, .uuid = "GPU-that-does-not-exist"};
    ck_assert_int_eq(other_processes_of(&none, NULL, 0, 0).state, OTHER_PROCESSES_UNKNOWN);
    ck_assert_int_eq(other_processes_idle(&none), IDLE_UNKNOWN);
}
END_TEST

START_TEST(the_host_is_never_asked_about)
{
    const struct device host = {.backend = BACKEND_HOST, .uuid = "host"};
    listed_count = 8;
    ck_assert_int_eq(other_processes_of(&host, NULL, 0, 0).state, OTHER_PROCESSES_UNKNOWN);
}
END_TEST

/* --- clocks --- */

enum { CALLS = 12 };
static const struct clocks apart = {0.005, 2.653}, together = {0.005, 0.04};

static void fill(struct clocks *clocks, const struct clocks *with)
{
    for (int i = 0; i < CALLS; i++)
        clocks[i] = *with;
}

START_TEST(a_gap_in_every_call_and_in_no_kernel_of_ours_is_a_proof)
{
    struct clocks candidate[CALLS], control[CALLS];
    fill(candidate, &apart);
    fill(control, &together);
    ck_assert(clocks_prove(candidate, control, CALLS));
    candidate[3] = together; /* one call that ended in time */
    ck_assert(clocks_prove(candidate, control, CALLS));
    candidate[7] = together;
    ck_assert(!clocks_prove(candidate, control, CALLS));
}
END_TEST

START_TEST(a_kernel_of_ours_that_was_held_up_once_is_no_proof)
{
    struct clocks candidate[CALLS], control[CALLS];
    fill(candidate, &apart);
    fill(control, &together);
    control[11] = apart;
    ck_assert(!clocks_prove(candidate, control, CALLS));
    ck_assert(!clocks_prove(candidate, control, CALLS - 1)); /* nor are fewer calls */
}
END_TEST

/* A neighbour that uses the device for a while, at random: a million second runs. */
START_TEST(neighbours_at_random_prove_nothing)
{
    uint64_t state = 91;
    int proofs = 0;
    for (int run = 0; run < 1000000; run++) {
        struct clocks candidate[CALLS], control[CALLS];
        for (int i = 0; i < CALLS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            candidate[i] = state >> 63 ? apart : together;
            control[i] = state >> 62 & 1 ? apart : together;
        }
        proofs += clocks_prove(candidate, control, CALLS);
    }
    ck_assert_int_le(proofs, 5); /* 13 of 2^24 runs: 0.8 expected */
}
END_TEST

START_TEST(clocks_that_differ_by_launch_overhead_agree)
{
    ck_assert(!clocks_disagree(&(struct clocks){0.005, 0.2}));
    ck_assert(!clocks_disagree(&(struct clocks){10, 15}));
    ck_assert(clocks_disagree(&(struct clocks){10, 15.5}));
}
END_TEST

TCase *neighbours_case(void)
{
    TCase *tests = tcase_create("neighbours");
    tcase_add_checked_fixture(tests, begin, finish);
    tcase_add_test(tests, a_list_with_this_process_and_its_own_is_nobody_else);
    tcase_add_test(tests, every_other_process_is_counted);
    tcase_add_test(tests, processes_of_the_family_do_not_count);
    tcase_add_test(tests, a_list_without_this_process_shows_only_that_there_are_more_than_ours);
    tcase_add_test(tests, another_unseen_on_the_device_is_a_neighbour_whatever_nvml_says);
    tcase_add_test(tests, a_device_is_idle_when_nothing_ran_while_nothing_of_ours_did);
    tcase_add_test(tests, without_nvml_nothing_is_known);
    tcase_add_test(tests, the_host_is_never_asked_about);
    tcase_add_test(tests, a_gap_in_every_call_and_in_no_kernel_of_ours_is_a_proof);
    tcase_add_test(tests, a_kernel_of_ours_that_was_held_up_once_is_no_proof);
    tcase_add_test(tests, neighbours_at_random_prove_nothing);
    tcase_add_test(tests, clocks_that_differ_by_launch_overhead_agree);
    return tests;
}
