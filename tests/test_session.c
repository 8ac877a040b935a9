/* What a session says of one configuration, as numbers: outcome, cause, which call, which side of which tensor. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/space.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/session/session.h"

enum { X, Y }; /* the tensors of softmax */

/* A right softmax, then `after`; `calls` counts them in one process. */
static const char source[] =
    "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    "static int calls;\n%s\n#ifndef SILENT\n#define SILENT 0\n#endif\n"
    "static void right(const float *x, float *y, int64_t rows, int64_t cols)\n{\n"
    "    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {\n"
    "        double most = -INFINITY, sum = 0;\n"
    "        for (int64_t c = 0; c < cols; c++) most = x[c] > most ? x[c] : most;\n"
    "        for (int64_t c = 0; c < cols; c++) sum += exp(x[c] - most);\n"
    "        for (int64_t c = 0; c < cols; c++) y[c] = (float)(exp(x[c] - most) / sum);\n    }\n}\n"
    "int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)\n{\n"
    "    (void)stream;\n    calls++;\n    if (!SILENT) right(x, y, rows, cols);\n    %s\n    return 0;\n}\n";

static const struct {
    const char *before, *after; /* in the source */
    enum outcome outcome;
    struct reason reason;
} cases[] = {
    {"", "", OUTCOME_PASS, {CAUSE_NONE, STAGE_MOVED, SIDE_NONE, 0}},
    {"", "y[5] += 1;", OUTCOME_WRONG, {CAUSE_VALUE, STAGE_FIRST, SIDE_NONE, 0}},
    {"#define SILENT 1", "", OUTCOME_UNWRITTEN, {CAUSE_VALUE, STAGE_FIRST, SIDE_NONE, 0}},
    {"", "if (calls == 2) y[5] += 1;", OUTCOME_UNSTABLE, {CAUSE_REPEAT, STAGE_MOVED, SIDE_NONE, 0}},
    {"", "y[rows * cols] = 1;", OUTCOME_OVERRUN, {CAUSE_SLACK, STAGE_FIRST, SIDE_ABOVE, Y}},
    {"", "y[-1] = 1;", OUTCOME_OVERRUN, {CAUSE_GUARD, STAGE_FIRST, SIDE_BELOW, Y}},
    {"", "if (calls == 3) y[-1] = 1;", OUTCOME_OVERRUN, {CAUSE_SLACK, STAGE_MOVED, SIDE_BELOW, Y}},
    {"", "if (calls == 3) y[rows * cols] = 1;", OUTCOME_OVERRUN, {CAUSE_GUARD, STAGE_MOVED, SIDE_ABOVE, Y}},
    {"", "if (x[-1] > 2) return 1;", OUTCOME_OVERRUN, {CAUSE_GUARD, STAGE_FIRST, SIDE_BELOW, X}},
    {"", "((float *)x)[0] = 7;", OUTCOME_MODIFIED, {CAUSE_INPUT, STAGE_FIRST, SIDE_NONE, X}},
    {"", "if (calls == 2) return 3;", OUTCOME_REFUSED, {CAUSE_RETURN, STAGE_FRESH, SIDE_NONE, 0}},
    {"", "if (calls == 2) abort();", OUTCOME_CRASH, {CAUSE_END, STAGE_FRESH, SIDE_NONE, 0}},
    {"__attribute__((constructor)) static void die(void) { abort(); }",
     "",
     OUTCOME_CRASH,
     {CAUSE_END, STAGE_LOADING, SIDE_NONE, 0}},
    {"", "if (write(3, \"0\", 1) != 1) abort();", OUTCOME_CRASH, {CAUSE_CHANNEL, STAGE_FIRST, SIDE_NONE, 0}},
    {"#include <fenv.h>",
     "if (calls > 1 && fegetround() != FE_UPWARD) y[5] += 1; fesetround(FE_UPWARD);",
     OUTCOME_WRONG,
     {CAUSE_VALUE, STAGE_FRESH, SIDE_NONE, 0}},
    {"", "for (;;) pause();", OUTCOME_TIMEOUT, {CAUSE_TIME, STAGE_FIRST, SIDE_NONE, 0}},
};
enum { CASES = sizeof cases / sizeof *cases };

static char folder[32];
static struct build build;
static struct device device;
static struct session *session;
static struct config config;

static void open_kernel(const char *before, const char *after)
{
    char path[64], error[4096] = "";
    struct space_error problem;
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, source, before, after);
    ck_assert_int_eq(fclose(file), 0);
    const struct build_options options = {.path = path, .timeout = 60};
    ck_assert_msg(build_candidate(&build, &options, error, sizeof error) == BUILD_OK, "%s", error);
    unlink(path);
    ck_assert_int_eq(device_open(&device, "host", error, sizeof error), 0);
    ck_assert_int_eq(
        config_parse(&config, problem_find("softmax"), "rows=3 cols=100 seed=5", "test", &problem), 0);
    session = session_open(&(struct session_options){.problem = config.problem,
                                                     .device = &device,
                                                     .object = build.object,
                                                     .timeout = 1,
                                                     .threads = 2,
                                                     .workers = 1});
    ck_assert_ptr_nonnull(session);
}

static void close_kernel(void)
{
    session_close(session);
    build_clear(&build);
    rmdir(folder);
}

static void expect_reason(struct reason got, struct reason want)
{
    ck_assert_int_eq(got.cause, want.cause);
    ck_assert_int_eq(got.stage, want.stage);
    ck_assert_int_eq(got.side, want.side);
    ck_assert_int_eq(got.tensor, want.tensor);
}

START_TEST(a_result_says_by_numbers_what_happened_where)
{
    struct config_result result = {0};
    open_kernel(cases[_i].before, cases[_i].after);
    ck_assert_msg(session_check(session, &config, &result) == SESSION_OK, "%s", session_error(session));
    ck_assert_msg(result.outcome == cases[_i].outcome, "%s: %s", outcome_name(result.outcome), result.detail);
    expect_reason(result.reason, cases[_i].reason);
    int findings = 0;
    session_findings(session, &findings);
    ck_assert_int_eq(findings, cases[_i].reason.cause == CAUSE_CHANNEL);
    close_kernel();
}
END_TEST

START_TEST(what_fails_in_the_timed_calls_only_has_their_configuration)
{
    struct config_result result = {0};
    char line[RESULT_LINE_SIZE];
    open_kernel("", "if (calls > 3) y[5] += 1;");
    config.value[problem_axis_index(config.problem, "input")] = 1; /* not the published kind */
    ck_assert_int_eq(session_check(session, &config, &result), SESSION_OK);
    ck_assert_int_eq(result.outcome, OUTCOME_PASS);
    ck_assert_int_eq(session_time(session, &config, 0.01, &result), SESSION_OK);
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    expect_reason(result.reason, (struct reason){CAUSE_VALUE, STAGE_TIMED, SIDE_NONE, 0});
    config.value[problem_axis_index(config.problem, "input")] = 0;
    ck_assert(config_equal(&result.timed_config, &config));
    config_format(&config, line, sizeof line);
    ck_assert_str_eq(result.timed_line, line);
    close_kernel();
}
END_TEST

/* A refusal while memory is scarce counts when it happens again with nobody else there, and only so often is it asked
 * again. The device is said to be so large that whatever is free is little of it. */
START_TEST(what_may_have_lacked_memory_runs_again_alone)
{
    static const struct {
        const char *after;
        bool scarce;
        int checks; /* the last of them has the outcome */
        enum outcome outcome;
    } refusing[] = {{"if (calls == 1) return 1;", true, 1, OUTCOME_PASS},
                    {"if (calls == 1) return 1;", false, 1, OUTCOME_REFUSED},
                    {"return 1;", true, 1, OUTCOME_REFUSED},
                    {"if (calls < 8) return 1;", true, 4, OUTCOME_REFUSED}};
    struct config_result result;
    open_kernel("", refusing[_i].after);
    if (refusing[_i].scarce)
        device.memory_bytes = SIZE_MAX;
    else
        device.memory_bytes = 1;
    for (int i = 0; i < refusing[_i].checks; i++) {
        result = (struct config_result){0};
        ck_assert_int_eq(session_check(session, &config, &result), SESSION_OK);
    }
    ck_assert_msg(result.outcome == refusing[_i].outcome, "%s", outcome_name(result.outcome));
    close_kernel();
}
END_TEST

/* Of every outcome: is it a failure, is it rejected, are the other calls made? */
START_TEST(outcomes_have_one_table)
{
    int fails = 0, rejected = 0, goes_on = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        ck_assert(!outcome_fails(i) || outcome_is_rejected(i));
        fails += outcome_fails(i);
        rejected += outcome_is_rejected(i);
        goes_on += outcome_traits(i)->goes_on;
    }
    ck_assert(!outcome_is_rejected(OUTCOME_PASS) && !outcome_is_rejected(OUTCOME_SKIPPED));
    ck_assert(outcome_is_rejected(OUTCOME_REFUSED) && !outcome_fails(OUTCOME_REFUSED));
    ck_assert_int_eq(fails, OUTCOME_COUNT - 3);
    ck_assert_int_eq(rejected, OUTCOME_COUNT - 2);
    ck_assert_int_eq(goes_on, 3);
}
END_TEST

Suite *session_suite(void)
{
    Suite *suite = suite_create("session");
    TCase *tests = tcase_create("reasons");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_result_says_by_numbers_what_happened_where, 0, CASES);
    tcase_add_test(tests, what_fails_in_the_timed_calls_only_has_their_configuration);
    tcase_add_loop_test(tests, what_may_have_lacked_memory_runs_again_alone, 0, 4);
    tcase_add_test(tests, outcomes_have_one_table);
    suite_add_tcase(suite, tests);
    return suite;
}
