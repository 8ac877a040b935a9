/* Times that were disturbed are taken again, and pairs of times for which there is no memory are not tried
 * for ever. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suites.h"
#include "verify/compare/paired_timing.h"
#include "verify/device/gpu_clocks.h"
#include "verify/session/run.h"

static const char source[] =
    "#include <math.h>\n#include <stdint.h>\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n    (void)stream;\n"
    "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
    "        double most = -INFINITY, sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++) most = x[c] > most ? x[c] : most;\n"
    "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - most);\n"
    "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);\n    }\n    return "
    "0;\n}\n";

static char folder[64], kernel[100], seen[100];
static struct task task;

static void put(const char *path, const char *text)
{
    FILE *const file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* `count` configurations of the seen set, none unseen, and a right kernel. */
static void open_task(int count)
{
    char lines[1000];
    size_t used = 0;
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(kernel, sizeof kernel, "%s/kernel.c", folder);
    snprintf(seen, sizeof seen, "%s/softmax.seen", folder);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(lines + used, sizeof lines - used, "rows=3 cols=%d input=normal\n", 100 + i);
    put(kernel, source);
    put(seen, lines);
    const struct task_options options = {.problem = problem_find("softmax"),
                                         .device = "host",
                                         .seen = seen,
                                         .candidate = kernel,
                                         .seed = 7,
                                         .has_seed = true,
                                         .attend = true};
    ck_assert_msg(task_open(&task, &options) == TASK_OK && task_contract(&task) == TASK_OK &&
                      task_build(&task) == TASK_OK && task_draw(&task) == TASK_OK,
                  "%s", task.error);
    ck_assert_int_eq(task.seen_set.count, count);
}

static void close_task(void)
{
    task_clear(&task);
    unlink(kernel);
    unlink(seen);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* --- disturbed times --- */

/* The device is asked before and after each measurement, which has up to four configurations. In the first
 * `low` measurements its clock has fallen by the end. */
static int asked, low;

static struct gpu_clocks falling(const struct device *of)
{
    const int taking = asked / 2, ends = asked % 2;
    asked++;
    return (struct gpu_clocks){.mhz = of->clock_mhz * (ends && taking < low ? 0.6 : 0.99)};
}

static const struct {
    int configs, low;
    int takings, disturbed; /* in all; how many times stay so */
} turns[] = {
    {1, 0, 1, 0},      {1, 1, 2, 0}, {1, 2, 3, 0}, {1, 3, 3, 1}, /* twice at most */
    {12, 1, 3 + 4, 0},                                           /* four of twelve, one by one */
    {8, 1, 2, 4}, /* four of eight: the other program will stay */
};

START_TEST(few_times_that_were_disturbed_are_taken_again)
{
    struct result result = {.seed = 7};
    char error[1000] = "";
    int disturbed = 0, takings;
    open_task(turns[_i].configs);
    task.device.clock_mhz = 1980;
    const struct run_options options = {.timeout = 20, .jobs = 1, .timing = true, .time_budget = 0.005};
    asked = 0;
    low = turns[_i].low;
    gpu_clocks_ask(falling);
    ck_assert_msg(run_task(&task, &options, &result, error, sizeof error) == RUN_DONE, "%s", error);
    gpu_clocks_ask(NULL);
    takings = asked / 2;
    for (int i = 0; i < result.result_count; i++) {
        const struct config_result *const one = &result.results[i];
        ck_assert_msg(one->outcome == OUTCOME_PASS && one->timing.present, "%s", one->detail);
        ck_assert_int_eq(one->timing.unmet && strncmp(one->timing.unmet, "unstable clock", 14) == 0,
                         one->timing.disturbed);
        disturbed += one->timing.disturbed;
    }
    ck_assert_int_eq(result.result_count, turns[_i].configs);
    ck_assert_int_eq(takings, turns[_i].takings);
    ck_assert_int_eq(disturbed, turns[_i].disturbed);
    free(result.results);
    free(result.finding);
    close_task();
}
END_TEST

/* --- no memory for two --- */

/* This signal reports a region larger than a file may be. A series asks for several sets of buffers, and then
 * for one. */
static volatile sig_atomic_t refused;

static void count_refusal(int number)
{
    (void)number;
    refused++;
}

static void item_of(struct compared *item, const char *line)
{
    struct space_error error;
    memset(item, 0, sizeof *item);
    ck_assert_msg(config_parse(&item->config, task.problem, line, "test", &error) == 0, "%s", error.text);
}

START_TEST(what_does_not_fit_twice_is_not_tried_again)
{
    enum { BYTES = 1 << 20, TRIES = 2, CANDIDATES = 2, ASKED = 2 };
    struct compared item[2];
    struct comparison c = {.kind = COMPARISON_NOW, .seed = 3, .item = item, .count = 2};
    struct rlimit before, limit;
    char error[1000] = "";
    open_task(1);
    item_of(&item[0], "rows=512 cols=1024 input=normal seed=1");
    item_of(&item[1], "rows=3 cols=100 input=normal seed=1");
    const struct run_options run = {.timeout = 20, .jobs = 1};
    const struct paired_timing_options options = {.only_first = true, .budget_seconds = 0.001};
    struct rounds *const rounds = paired_timing_open(&task, &task, &run);
    ck_assert_ptr_nonnull(rounds);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){BYTES, before.rlim_max};
    signal(SIGXFSZ, count_refusal);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const enum run_status status = paired_timing_run(rounds, &options, &c, error, sizeof error);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_msg(status == RUN_DONE, "%s", error);
    ck_assert_int_eq(refused, TRIES * CANDIDATES * ASKED);
    ck_assert_int_eq(item[0].processes, 0);
    ck_assert_int_eq(item[0].outcome[0], OUTCOME_PASS);
    ck_assert_int_eq(item[1].processes, FIRST_SWEEPS);
    ck_assert_msg(strncmp(c.notes, "1 configurations have no times: the tensors of two do not fit", 61) == 0,
                  "%s", c.notes);
    paired_timing_close(rounds);
    close_task();
}
END_TEST

TCase *times_again_case(void)
{
    TCase *tests = tcase_create("times_again");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, few_times_that_were_disturbed_are_taken_again, 0,
                        sizeof turns / sizeof *turns);
    tcase_add_test(tests, what_does_not_fit_twice_is_not_tried_again);
    return tests;
}
