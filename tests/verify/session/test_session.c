/* A session's result for one configuration, as numbers: outcome, cause, which call, which side of which
 * tensor. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/space.h"
#include "session_fixture.h"
#include "suites.h"
#include "verify/session/timed.h"
#include "verify/build/build.h"
#include "verify/device/gpu_clocks.h"
#include "verify/session/session.h"

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
    /* As many mappings as the kernel allows a process: the judge's own have no place in it. */
    {"#include <sys/mman.h>\n"
     "__attribute__((constructor)) static void fill(void)\n{\n"
     "    char *m = mmap(0, 1L << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);\n"
     "    for (long i = 0; i < 1L << 17 && mprotect(m + 8192 * i, 4096, PROT_READ) == 0; i++) {}\n}",
     "",
     OUTCOME_CRASH,
     {CAUSE_END, STAGE_FIRST, SIDE_NONE, 0}},
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

/* The first draw's answer is NaN all over, and that of the second is not. A candidate that always returns NaN
 * has replayed nothing. */
START_TEST(a_wrong_answer_that_was_once_right_is_no_replay)
{
    struct config_result result = {0};
    struct space_error problem;
    int findings = 0;
    open_kernel("", "for (int64_t i = 0; i < rows * cols; i++) y[i] = 0.0f / 0.0f;");
    ck_assert_int_eq(config_parse(&config, config.problem, "rows=1 cols=529 input=special seed=545588363",
                                  "test", &problem),
                     0);
    ck_assert_int_eq(session_check(session, &config, &result), SESSION_OK);
    expect_reason(result.reason, (struct reason){CAUSE_VALUE, STAGE_FRESH, SIDE_NONE, 0});
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    session_findings(session, &findings);
    ck_assert_int_eq(findings, 0);
    close_kernel();
}
END_TEST

/* A forgotten element is always an error and no replay. */
START_TEST(a_forgotten_element_is_no_replay)
{
    struct config_result result = {0};
    int findings;
    open_kernel("", "for (int i = 0; i < 300; i++) if (x[i] > 5) y[i] = 0;");
    for (config.seed = 1; config.seed < 10; config.seed++) {
        ck_assert_int_eq(session_time(session, &config, 0.01, &result), SESSION_OK);
        session_findings(session, &findings);
        ck_assert_int_eq(findings, 0);
    }
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    close_kernel();
}
END_TEST

/* Calls that no series of 50 reaches. */
START_TEST(late_calls_are_judged)
{
    static const char *const late[] = {"if (calls > 40) y[5] = 7;", "if (calls > 400) y[5] = 7;", ""};
    struct config_result result = {0};
    open_kernel("", late[_i]);
    ck_assert_int_eq(session_late(session, &config, &result), SESSION_OK);
    ck_assert_int_eq(result.outcome, _i < 2 ? OUTCOME_WRONG : OUTCOME_PASS);
    ck_assert(_i == 2 || strstr(result.detail, "in a late call (number ") != NULL);
    close_kernel();
}
END_TEST

/* A candidate that waits until nothing has moved for a while is judged after that, with other contents in the
 * same place. One that then replays by the same first element is judged on inputs that differ in few. */
START_TEST(late_calls_stay_where_they_are)
{
    static const char *const there[] = {
        "    if (row > 26) y[5] = 7;",
        "    if (row > 26 && sample == x[0]) memcpy(y, kept, size); else memcpy(kept, y, size);",
    };
    char after[512];
    struct config_result result = {0};
    snprintf(after, sizeof after,
             "size_t size = (size_t)(rows * cols) * sizeof *y; row = y == last ? row + 1 : 0; last = y;\n"
             "    if (!kept) kept = malloc(size);\n%s sample = x[0];",
             there[_i % 2]);
    open_kernel("static const float *last; static float *kept, sample; static int row;", after);
    config.seed = 1 + (uint64_t)_i / 2;
    ck_assert_int_eq(session_late(session, &config, &result), SESSION_OK);
    ck_assert_msg(result.outcome == OUTCOME_WRONG, "%s: %s", outcome_name(result.outcome), result.detail);
    ck_assert_msg(strstr(result.detail, "in a late call (number 5"), "%s", result.detail);
    close_kernel();
}
END_TEST

/* A candidate cannot know which calls are judged: one that computes every second time fails. */
START_TEST(a_share_of_the_timed_calls_is_judged)
{
    int wrong = 0;
    open_kernel("", "if (calls % 2 == 0) y[5] = 7;");
    for (config.seed = 1; config.seed <= 24; config.seed++) {
        struct config_result result = {0};
        ck_assert_int_eq(session_time(session, &config, 0.01, &result), SESSION_OK);
        wrong += result.outcome == OUTCOME_WRONG;
    }
    ck_assert_int_gt(wrong, 1);
    close_kernel();
}
END_TEST

static struct timing time_file(const char *path)
{
    struct config_result result = {0};
    char error[4096] = "";
    const struct build_options options = {.path = path, .timeout = 60};
    open_kernel("", "");
    session_close(session);
    build_clear(&build);
    ck_assert_msg(build_candidate(&build, &options, error, sizeof error) == BUILD_OK, "%s", error);
    session = session_open(&(struct session_options){.problem = config.problem,
                                                     .device = &device,
                                                     .object = build.object,
                                                     .timeout = 20,
                                                     .threads = 1,
                                                     .workers = 1});
    config.value[problem_axis_index(config.problem, "rows")] = 1024;
    config.value[problem_axis_index(config.problem, "cols")] = 1024;
    ck_assert_int_eq(session_time(session, &config, 1, &result), SESSION_OK);
    ck_assert_msg(result.outcome == OUTCOME_PASS && result.timing.present, "%s", result.detail);
    close_kernel();
    return result.timing;
}

/* It reports an eighth of the time in its process; the judge has a clock of its own. */
START_TEST(a_clock_that_was_tampered_with_is_not_believed)
{
    const struct timing right = time_file("problems/softmax/baseline.c");
    const struct timing slowed = time_file("tests/corpora/zoo/cheats/slow_clock.c");
    ck_assert_str_eq(right.method, "monotonic clock, cold caches");
    ck_assert_msg(strstr(slowed.method, "the judge's clock") != NULL, "%s", slowed.method);
    ck_assert(slowed.disturbed);
}
END_TEST

/* Several configurations: each has its own times, and calls take turns. */
START_TEST(configurations_are_timed_in_turns)
{
    struct config configs[3];
    struct config_result results[3] = {{0}};
    struct timing_job job[3];
    int taken = 0;
    open_kernel("static int64_t last, changes;",
                "changes += cols != last; last = cols; if (calls == 30 && changes < 8) return 1;");
    for (int i = 0; i < 3; i++) {
        configs[i] = config;
        configs[i].value[problem_axis_index(config.problem, "cols")] = 100 + i;
        job[i] = (struct timing_job){&configs[i], 0.05, &results[i]};
    }
    ck_assert_int_eq(session_time_several(session, job, 3, &taken), SESSION_OK);
    ck_assert_int_eq(taken, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(results[i].outcome == OUTCOME_PASS, "%s", results[i].detail);
        ck_assert(results[i].timing.present && results[i].timing.samples >= 10);
    }
    close_kernel();
}
END_TEST

static int probes, low_probes;
static struct gpu_clocks fake_pace(const struct device *of)
{
    return (struct gpu_clocks){.mhz = of->clock_mhz * (probes++ < low_probes ? 0.6 : 0.99),
                               .held = GPU_CLOCKS_HEAT};
}

/* A device at rest raises its clock at once. Times on a device that does not are not reliable. */
START_TEST(times_at_a_low_clock_are_marked)
{
    static const int low[] = {3, 1000};
    struct config_result result = {0};
    struct company company = {0};
    open_kernel("", "");
    device.clock_mhz = 1980;
    low_probes = low[_i];
    probes = 0;
    gpu_clocks_ask(fake_pace);
    ck_assert_int_eq(session_time(session, &config, 0.01, &result), SESSION_OK);
    session_company(session, &company);
    gpu_clocks_ask(NULL);
    ck_assert_msg(result.timing.present, "%s", result.detail);
    ck_assert_int_eq(result.timing.disturbed, low[_i] > 100);
    ck_assert_int_eq(result.timing.unmet && strncmp(result.timing.unmet, "unstable clock", 14) == 0,
                     low[_i] > 100);
    ck_assert_double_eq_tol(company.least_mhz, 1980 * (low[_i] > 100 ? 0.6 : 0.99), 1e-9);
    ck_assert_str_eq(company.held_back, "heat");
    close_kernel();
}
END_TEST

/* A refusal while memory is scarce counts when it happens again with the device alone, and it is asked again
 * only so often. The device is set to be so large that free memory is little of it. */
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

/* For every outcome: is it a failure, is it rejected, are the other calls made? */
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

/* Each has 20 samples, except the last, which a missing process has cut off. */
START_TEST(a_time_of_several_processes_is_the_mean_of_their_medians)
{
    static const double level[] = {5.0, 5.4, 5.2, 9.0};
    static const int samples[] = {30, OF_A_PROCESS, OF_A_PROCESS, 7};
    struct timed *const timed = calloc(1, sizeof *timed);
    ck_assert_ptr_nonnull(timed);
    for (int p = 0; p < 4; p++) {
        if (p > 0)
            timed_enter(timed);
        for (int i = 0; i < samples[p]; i++) /* half of them off by the same amount, on either side */
            timed->event_ms[timed->count++] = level[p] + (i % 2 ? 0.1 : -0.1);
        timed->event_ms[timed->count - 1] = 100; /* and one is far off */
        ck_assert_int_eq(timed_processes(timed), p < 3 ? p + 1 : 3);
    }
    const struct interval center = timed_center(timed);
    ck_assert(center.present);
    ck_assert_double_eq_tol(center.value, (5.0 + 5.4 + 5.2) / 3, 0.11);
    ck_assert_double_gt(center.high, 5.2 + 0.2);
    timed->processes = 0; /* all samples of one: the order statistic */
    ck_assert_double_lt(timed_center(timed).value, 5.45);
    free(timed);
}
END_TEST

Suite *session_suite(void)
{
    Suite *suite = suite_create("session");
    TCase *tests = tcase_create("reasons");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_result_says_by_numbers_what_happened_where, 0, CASES);
    tcase_add_test(tests, a_time_of_several_processes_is_the_mean_of_their_medians);
    tcase_add_test(tests, what_fails_in_the_timed_calls_only_has_their_configuration);
    tcase_add_test(tests, a_wrong_answer_that_was_once_right_is_no_replay);
    tcase_add_test(tests, a_forgotten_element_is_no_replay);
    tcase_add_loop_test(tests, late_calls_are_judged, 0, 3);
    tcase_add_loop_test(tests, late_calls_stay_where_they_are, 0, 8);
    tcase_add_test(tests, a_share_of_the_timed_calls_is_judged);
    tcase_add_test(tests, configurations_are_timed_in_turns);
    tcase_add_test(tests, a_clock_that_was_tampered_with_is_not_believed);
    tcase_add_loop_test(tests, times_at_a_low_clock_are_marked, 0, 2);
    tcase_add_loop_test(tests, what_may_have_lacked_memory_runs_again_alone, 0, 4);
    tcase_add_test(tests, outcomes_have_one_table);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, times_again_case());
    suite_add_tcase(suite, retry_case());
    suite_add_tcase(suite, timeout_budget_case());
    suite_add_tcase(suite, enclosure_cache_case());
    suite_add_tcase(suite, judge_alone_case());
    suite_add_tcase(suite, region_image_case());
    suite_add_tcase(suite, ahead_case());
    suite_add_tcase(suite, kept_case());
    suite_add_tcase(suite, sibling_case());
    suite_add_tcase(suite, fingerprints_case());
    return suite;
}
