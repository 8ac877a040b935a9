/* The number of usable cores: affinity, quota of made-up cgroups, OMP_NUM_THREADS; and the memory that such
 * groups leave. */
#include <check.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/device/cgroup.h"
#include "verify/device/processors.h"
#include "suites.h"

static char root[64];

static void make_root(void)
{
    strcpy(root, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void drop_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    for (size_t i = 0; i <= strlen(folder); i++)
        if (folder[i] == '/' || folder[i] == '\0') {
            snprintf(path, sizeof path, "%s/%.*s", root, (int)i, folder);
            mkdir(path, 0755);
        }
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, name);
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(the_tightest_quota_on_the_way_to_the_root_counts)
{
    put("a/b", "cpu.max", "max 100000\n");
    ck_assert(isinf(cgroup_cores("0::/a/b\n", root)));
    put("a", "cpu.max", "350000 100000\n");
    ck_assert_double_eq(cgroup_cores("0::/a/b\n", root), 3.5);
    put("a/b", "cpu.max", "150000 100000\n");
    ck_assert_double_eq(cgroup_cores("0::/a/b\n", root), 1.5);
    ck_assert_double_eq(cgroup_cores("0::/a\n", root), 3.5);
    ck_assert(isinf(cgroup_cores("0::/\n", root)));
}
END_TEST

START_TEST(version_1_has_its_quota_below_the_cpu_controller)
{
    put("cpu/box", "cpu.cfs_quota_us", "-1\n");
    put("cpu/box", "cpu.cfs_period_us", "100000\n");
    ck_assert(isinf(cgroup_cores("7:cpuset:/\n4:cpu,cpuacct:/box\n", root)));
    put("cpu/box", "cpu.cfs_quota_us", "250000\n");
    ck_assert_double_eq(cgroup_cores("7:cpuset:/\n4:cpu,cpuacct:/box\n", root), 2.5);
    ck_assert_double_eq(cgroup_cores("4:cpuacct,cpu:/box\n", root), 2.5);
    ck_assert(isinf(cgroup_cores("4:cpuacct:/box\n", root)));
}
END_TEST

/* A container without a namespace of its own sees the host's path, but only the root of the hierarchy. */
START_TEST(a_group_whose_folder_is_not_here_still_has_the_root)
{
    put(".", "cpu.max", "200000 100000\n");
    ck_assert_double_eq(cgroup_cores("0::/system.slice/box-1234.scope\n", root), 2);
}
END_TEST

START_TEST(a_membership_that_says_nothing_is_no_quota)
{
    ck_assert(isinf(cgroup_cores("", root)));
    ck_assert(isinf(cgroup_cores("nonsense\n::\n0:\n", root)));
    put(".", "cpu.max", "");
    ck_assert(isinf(cgroup_cores("0::/\n", root)));
}
END_TEST

START_TEST(the_tightest_bound_on_memory_on_the_way_to_the_root_counts)
{
    put("a/b", "memory.max", "max\n");
    ck_assert(isinf(cgroup_memory("0::/a/b\n", root)));
    put("a", "memory.max", "1073741824\n");
    ck_assert_double_eq(cgroup_memory("0::/a/b\n", root), 1 << 30);
    put("a/b", "memory.max", "268435456\n");
    ck_assert_double_eq(cgroup_memory("7:cpuset:/\n0::/a/b\n", root), 1 << 28);
    ck_assert_double_eq(cgroup_memory("0::/a\n", root), 1 << 30);
    put("memory/box", "memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert(isinf(cgroup_memory("4:memory:/box/in\n", root)));
    put("memory/box", "memory.limit_in_bytes", "134217728\n");
    ck_assert_double_eq(cgroup_memory("4:memory:/box/in\n0::/a\n", root), 1 << 27);
    ck_assert_double_eq(cgroup_memory("4:cpu:/box\n0::/a\n", root), 1 << 30);
}
END_TEST

START_TEST(the_affinity_mask_counts_and_so_does_omp_num_threads)
{
    cpu_set_t before, one;
    unsetenv("OMP_NUM_THREADS");
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    const int all = processors_available();
    ck_assert_int_ge(all, 1);
    ck_assert_int_le(all, CPU_COUNT(&before));
    setenv("OMP_NUM_THREADS", "1", 1);
    ck_assert_int_eq(processors_available(), 1);
    setenv("OMP_NUM_THREADS", "100000", 1);
    ck_assert_int_eq(processors_available(), all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(processors_available(), 1);
    ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
}
END_TEST

START_TEST(a_team_has_the_cores_that_nobody_else_wants)
{
    static const struct {
        int wanted, online;
        double others;
        int team;
    } shares[] = {{2, 2, 0, 2},  {2, 2, 0.4, 2}, {2, 2, 1, 1},   {2, 2, 6, 1},
                  {1, 64, 0, 1}, {8, 64, 3, 8},  {8, 64, 60, 4}, {8, 4, 0, 4}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        ck_assert_int_eq(processors_share(shares[i].wanted, shares[i].online, shares[i].others),
                         shares[i].team);
}
END_TEST

START_TEST(a_team_shrinks_on_a_loaded_machine)
{
    const int online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    pid_t *loop = calloc((size_t)online, sizeof *loop);
    for (int i = 0; i < online; i++) {
        loop[i] = fork();
        if (loop[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                __asm__ volatile("");
        }
    }
    usleep(20000);
    for (int i = 0; i < 4; i++) {
        processors_team(64);
        usleep(60000);
    }
    const int team = processors_team(64);
    for (int i = 0; i < online; i++) {
        kill(loop[i], SIGKILL);
        waitpid(loop[i], NULL, 0);
    }
    free(loop);
    ck_assert_int_le(team, online / 4 + 1); /* a loop may have no core at that moment */
}
END_TEST

TCase *processors_case(void)
{
    TCase *tests = tcase_create("processors");
    tcase_add_checked_fixture(tests, make_root, drop_root);
    tcase_add_test(tests, the_tightest_quota_on_the_way_to_the_root_counts);
    tcase_add_test(tests, version_1_has_its_quota_below_the_cpu_controller);
    tcase_add_test(tests, a_group_whose_folder_is_not_here_still_has_the_root);
    tcase_add_test(tests, a_membership_that_says_nothing_is_no_quota);
    tcase_add_test(tests, the_tightest_bound_on_memory_on_the_way_to_the_root_counts);
    tcase_add_test(tests, the_affinity_mask_counts_and_so_does_omp_num_threads);
    tcase_add_test(tests, a_team_has_the_cores_that_nobody_else_wants);
    tcase_add_test(tests, a_team_shrinks_on_a_loaded_machine);
    return tests;
}
