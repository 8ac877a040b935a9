/* Python candidates compile before the lease is taken. */
#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/contract/space.h"
#include "oracle_task.h"
#include "skip.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/device/lease.h"
#include "verify/session/session_timing.h"

enum { PATIENCE = 40 };

/* For each shape a mark is left where a compiler would leave its output. */
static const char module[] = "import os, torch\nknown = set()\n"
                             "def softmax(x):\n    if x.shape not in known:\n        known.add(x.shape)\n"
                             "        open(os.environ['TMPDIR'] + '/compiled-%d' % x.shape[1], 'w').close()\n"
                             "    return torch.softmax(x, -1)\n";

static char folder[64], path[100];

static struct lease *open_lease(void)
{
    char why[400];
    const struct lease_options options = {.directory = folder, .device = "host"};
    struct lease *const lease = lease_open(&options, why, sizeof why);
    ck_assert_msg(lease != NULL, "%s", why);
    return lease;
}

/* Another with the lease until all marks are there: a thread, since sessions end processes that they do not
 * know. */
struct holder {
    struct lease *lease;
    const char *cache;
    const int *cols;
    int count;
    bool found; /* at the end */
};

static void *hold(void *data)
{
    struct holder *const holder = data;
    for (int tick = 0, found = 0; tick < PATIENCE * 100 && !holder->found; tick++, found = 0) {
        for (int i = 0; i < holder->count; i++) {
            char mark[600];
            snprintf(mark, sizeof mark, "%s/tmp/compiled-%d", holder->cache, holder->cols[i]);
            found += access(mark, F_OK) == 0;
        }
        holder->found = found == holder->count;
        usleep(10000);
    }
    lease_give(holder->lease);
    return NULL;
}

static void build_module(struct build *build, const char *python)
{
    char error[4096] = "";
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 01777), 0);
    snprintf(path, sizeof path, "%s/m.py", folder);
    FILE *const file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(module, file);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {
        .path = path, .timeout = 60, .python = python, .scripts = PYTHON_PACKAGE, .names = "rows cols"};
    ck_assert_msg(build_candidate(build, &options, error, sizeof error) == BUILD_OK, "%s", error);
}

START_TEST(what_python_compiles_is_compiled_before_the_lease_is_taken)
{
    static const int cols[] = {100, 101};
    struct config config[2];
    struct config_result result[2] = {{0}};
    struct timing_job job[2];
    struct build build;
    struct device device;
    struct space_error problem;
    char error[1000], line[80], command[100];
    int taken = 0;
    pthread_t thread;
    const char *const python = task_torch();
    if (!python)
        SKIP_TEST("no interpreter with torch: make build/venv, or UNSEEN_TEST_PYTHON");
    build_module(&build, python);
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "rows=3 cols=%d seed=5", cols[i]);
        ck_assert_int_eq(config_parse(&config[i], problem_find("softmax"), line, "test", &problem), 0);
        job[i] = (struct timing_job){&config[i], 0.01, &result[i], false};
    }
    struct holder holder = {open_lease(), build.python.cache, cols, 2, false};
    ck_assert(lease_take(holder.lease));
    ck_assert_int_eq(pthread_create(&thread, NULL, hold, &holder), 0);
    struct lease *const lease = open_lease();
    struct session *const session = session_open(&(struct session_options){.problem = config[0].problem,
                                                                           .device = &device,
                                                                           .object = build.object,
                                                                           .python = build_python(&build),
                                                                           .timeout = 30,
                                                                           .threads = 2,
                                                                           .workers = 1,
                                                                           .lease = lease});
    ck_assert_int_eq(session_time_several(session, job, 2, &taken), SESSION_OK);
    pthread_join(thread, NULL);
    ck_assert_msg(holder.found, "the lease was waited for before both configurations had been called");
    ck_assert_int_eq(taken, 2);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(result[i].outcome == OUTCOME_PASS && result[i].timing.present, "%s", result[i].detail);
    ck_assert_double_gt(lease_waited(lease), 0);
    session_close(session);
    lease_close(lease);
    lease_close(holder.lease);
    build_clear(&build);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

TCase *python_lease_case(void)
{
    TCase *tests = tcase_create("lease");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, what_python_compiles_is_compiled_before_the_lease_is_taken);
    return tests;
}
