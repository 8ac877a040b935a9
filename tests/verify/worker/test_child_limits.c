/* The bounds on the total use of a candidate's processes, inside the sandbox and without it. */
#include "child_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "skip.h"
#include "verify/sandbox/resource_usage.h"

enum { MB = 1 << 20, BOUND = 64, MUCH = 65536 };

static enum child_status use(const char *symbol, double bound_mb, int64_t amount)
{
    int returned = -1;
    it.memory = bound_mb * MB;
    fixture_start(symbol);
    struct call call = fixture_make_call(PLACE_LOW);
    call.argument[0].value.whole = amount;
    const enum child_status status = fixture_make(&call, 20, &returned);
    ck_assert(status != CHILD_OK || returned == 0);
    return status;
}

static const struct {
    const char *symbol;
    double bound_mb;
    int64_t amount;
    enum child_status status;
    const char *words;
} uses[] = {
    {"eats", BOUND, 40, CHILD_OK, ""},
    {"eats", BOUND, 4096, CHILD_EXCEEDED, "--memory allows 64 MiB"},
    {"eats_shared", BOUND, 4096, CHILD_EXCEEDED, "--memory allows 64 MiB"},
    {"eats_in_children", BOUND, 256, CHILD_EXCEEDED, "--memory allows 64 MiB"},
    {"shares_with_children", BOUND, 30, CHILD_OK, ""}, /* five times 30, of the same pages */
    {"threads", MUCH, 200, CHILD_OK, ""},
    {"threads", MUCH, 3000, CHILD_EXCEEDED, "processes and threads or more; "},
    {"forks", MUCH, 3000, CHILD_EXCEEDED, "processes and threads or more; "},
};
enum { USES = sizeof uses / sizeof *uses, DAEMONS = 3 };

/* Without the sandbox processes that leave its session are found, too. */
START_TEST(what_all_processes_hold_together_is_bounded)
{
    const int i = _i < USES ? _i : DAEMONS;
    setenv("UNSEEN_NO_SANDBOX", _i < USES ? "0" : "1", 1);
    ck_assert_msg(use(uses[i].symbol, uses[i].bound_mb, uses[i].amount) == uses[i].status, "%s", it.text);
    if (uses[i].status != CHILD_OK)
        ck_assert_msg(strstr(it.text, uses[i].words) != NULL, "%s", it.text);
}
END_TEST

START_TEST(tensors_are_the_judges_and_do_not_count)
{
    region_destroy(&it.y);
    ck_assert_int_eq(
        region_create(&it.y, BACKEND_HOST, (2 * BOUND) * MB, REGION_ALIGN, it.text, sizeof it.text), 0);
    ck_assert_msg(use("uses_what_it_is_given", BOUND, 2 * BOUND) == CHILD_OK, "%s", it.text);
}
END_TEST

START_TEST(what_is_held_between_calls_counts)
{
    int returned;
    it.memory = BOUND * MB;
    fixture_start("eats");
    struct call call = fixture_make_call(PLACE_LOW);
    call.argument[0].value.whole = 4;
    enum child_status status = CHILD_OK;
    for (int i = 0; i < 200 && status == CHILD_OK; i++)
        status = fixture_make(&call, 20, &returned);
    ck_assert_int_eq(status, CHILD_EXCEEDED);
}
END_TEST

/* The judge does something else meanwhile. */
START_TEST(what_grows_between_two_calls_is_ended_then)
{
    int returned = -1;
    volatile int *const counter = (volatile int *)((char *)it.y.base + region_offset(&it.y, PLACE_LOW));
    it.memory = BOUND * MB;
    ck_assert_int_eq(fixture_run("eats_later", PLACE_LOW, &returned), CHILD_OK);
    usleep(300000);
    const int seen = *counter;
    usleep(100000);
    ck_assert_int_gt(seen, 0);
    ck_assert_int_lt(seen, 4096);
    ck_assert_int_eq(*counter, seen);
    ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_EXCEEDED);
    ck_assert_ptr_nonnull(strstr(it.text, "--memory allows 64 MiB"));
}
END_TEST

/* --- a control group of our own (version 2), made and removed outside of the tests --- */

enum { GROUP_MB = 256 };
static char group[4200];

static bool write_group(const char *name, const char *value)
{
    char path[sizeof group + 32];
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *file = fopen(path, "re+");
    const bool opened = file && fputs(value, file) >= 0;
    return file && fclose(file) == 0 && opened;
}

/* Below the group of this process. *group is empty where that cannot be written, or has no bound on
 * memory. */
static void make_group(void)
{
    char line[4096] = "", bytes[32];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file && fgets(line, sizeof line, file) && strncmp(line, "0::/", 4) == 0) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(group, sizeof group, "/sys/fs/cgroup%.4000s/unseen-test-%d", line + 3, (int)getpid());
    }
    if (file)
        fclose(file);
    snprintf(bytes, sizeof bytes, "%d", GROUP_MB * MB);
    if (*group && mkdir(group, 0755) != 0)
        *group = '\0';
    if (*group && !write_group("memory.max", bytes)) {
        rmdir(group);
        *group = '\0';
    }
}

static void remove_group(void)
{
    for (int i = 0; *group && i < 1000 && rmdir(group) != 0; i++)
        usleep(10000); /* its processes are still ending */
    *group = '\0';
}

/* A candidate may have half of the group by itself. A process that takes more than the group has ends. This
 * process is in the group, too, and does not. */
START_TEST(the_bound_of_a_control_group_is_the_candidates_and_the_judge_outlives_it)
{
    if (!*group || !write_group("cgroup.procs", "0"))
        SKIP_TEST("no control group with memory.max can be made here");
    ck_assert_double_le(resource_usage_default().bytes, GROUP_MB / 2.0 * MB);
    const double given = resource_usage_default().bytes / MB;
    ck_assert(use("eats", given, 16) == CHILD_OK);
    ck_assert(use("eats", given, 4096) != CHILD_OK);
    ck_assert(use("eats", MUCH, 4096) != CHILD_OK);
    ck_assert(use("eats", given, 16) == CHILD_OK);
}
END_TEST

TCase *child_group_case(void)
{
    TCase *tests = tcase_create("group");
    tcase_add_unchecked_fixture(tests, make_group, remove_group);
    fixture_add(tests);
    tcase_add_test(tests, the_bound_of_a_control_group_is_the_candidates_and_the_judge_outlives_it);
    return tests;
}

TCase *child_limits_case(void)
{
    TCase *tests = tcase_create("limits");
    fixture_add(tests);
    tcase_add_loop_test(tests, what_all_processes_hold_together_is_bounded, 0, USES + 1);
    tcase_add_test(tests, tensors_are_the_judges_and_do_not_count);
    tcase_add_test(tests, what_is_held_between_calls_counts);
    tcase_add_test(tests, what_grows_between_two_calls_is_ended_then);
    return tests;
}
