/* Kernels that keep data from call to call under a key that leaves something out. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "session_fixture.h"
#include "suites.h"
#include "verify/session/timed.h"
#include "verify/util/clock.h"
#include "verify/util/defence.h"

/* A sum of every 16th element, and the answer that goes with it: fresh contents and other addresses do not
 * show this. */
static const char sampled[] = "static float kept[300]; static double key;\n"
                              "static double sample(const float *x) { double h = 0; for (int i = 0; i < 300; "
                              "i += 16) h += x[i] * (i + 1); return h; }\n";
static const char replays[] = "if (rows * cols == 300) { if (calls > 1 && sample(x) == key) for (int i = 0; "
                              "i < 300; i++) y[i] = kept[i];"
                              " else for (int i = 0; i < 300; i++) kept[i] = y[i]; key = sample(x); }";

static void expect_replay(const char *where)
{
    int findings;
    const struct finding *finding = session_findings(session, &findings);
    ck_assert_int_eq(findings, 1);
    ck_assert_int_eq(finding->kind, FINDING_REPLAY);
    ck_assert_msg(strstr(finding->evidence, where) != NULL, "%s", finding->evidence);
    ck_assert_msg(strstr(finding->evidence, "in the place of") != NULL, "%s", finding->evidence);
}

/* The first seed from 1 on that does not pass; else the last. */
static struct config_result check_seeds(uint64_t below)
{
    struct config_result result = {0};
    for (config.seed = 1; config.seed < below && result.outcome == OUTCOME_PASS; config.seed++) {
        result = (struct config_result){0};
        ck_assert_int_eq(session_check(session, &config, &result), SESSION_OK);
    }
    return result;
}

/* Right for the first shape, and for all with as many columns. */
START_TEST(what_a_plan_leaves_out_of_its_key_is_wrong_after_a_twin)
{
    struct config_result result;
    struct space space;
    struct space_error error;
    open_kernel("static int64_t planned[2];",
                "if (planned[1] != cols) { planned[0] = rows; planned[1] = cols; }"
                " if (planned[0] != rows) for (int64_t i = 0; i < rows * cols; i++) y[i] = 1;");
    ck_assert_msg(space_read(&space, config.problem, "shapes/softmax.space", &error) == 0, "%s", error.text);
    session_close(session);
    session = session_open(&(struct session_options){.problem = config.problem,
                                                     .device = &device,
                                                     .object = build.object,
                                                     .timeout = 1,
                                                     .threads = 2,
                                                     .workers = 1,
                                                     .space = &space});
    ck_assert_ptr_nonnull(session);
    session_twins(session, false);
    ck_assert_int_eq(check_seeds(60).outcome, OUTCOME_PASS);
    session_twins(session, true);
    result = check_seeds(60);
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    expect_reason(result.reason, (struct reason){CAUSE_VALUE, STAGE_TWIN, SIDE_NONE, 0});
    ck_assert_msg(strncmp(result.detail, "wrong after rows=", 17) == 0, "%s", result.detail);
    ck_assert_msg(strstr(result.detail, ": right with rows=") != NULL, "%s", result.detail);
    ck_assert(result.pair.present);
    ck_assert_int_eq(result.pair.config.value[1], result.pair.after.value[1]);
    ck_assert_str_eq(result.pair.relation, "equal except for rows");
    defence_remove("twin");
    ck_assert_int_eq(check_seeds(60).outcome, OUTCOME_PASS);
    defence_restore();
    space_clear(&space);
    close_kernel();
}
END_TEST

/* Each sibling hangs. A few are waited for, and none of sixty accuses its configuration. */
START_TEST(siblings_that_hang_end_the_check)
{
    struct space space;
    struct space_error error;
    open_kernel("static int64_t first[2];", "if (!first[0]) { first[0] = rows; first[1] = cols; }"
                                            " if (first[0] != rows || first[1] != cols) for (;;) pause();");
    ck_assert_msg(space_read(&space, config.problem, "shapes/softmax.space", &error) == 0, "%s", error.text);
    session_close(session);
    session = session_open(&(struct session_options){.problem = config.problem,
                                                     .device = &device,
                                                     .object = build.object,
                                                     .timeout = 0.5,
                                                     .threads = 2,
                                                     .workers = 1,
                                                     .space = &space});
    const double start = clock_seconds();
    ck_assert_int_eq(check_seeds(60).outcome, OUTCOME_PASS);
    ck_assert_double_lt(clock_seconds() - start, 15); /* four times 0.5 s of thirty */
    space_clear(&space);
    close_kernel();
}
END_TEST

/* A key of all elements, without the bits that bf16 lacks, or without their signs. */
static const char *const leaves_out[] = {"0xffff0000u", "0x7fffffffu"};

START_TEST(a_key_without_low_bits_or_signs_is_found_in_a_check)
{
    struct config_result result;
    char before[400];
    snprintf(before, sizeof before,
             "static float kept[300]; static double key;\n"
             "static double sample(const float *x) { double h = 0; for (int i = 0; i < 300; i++) {"
             " union { float f; uint32_t u; } b = {x[i]}; h += (double)(b.u & %s) * (i + 1); } return h; }\n",
             leaves_out[_i]);
    open_kernel(before, replays);
    result = check_seeds(200);
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    expect_reason(result.reason, (struct reason){CAUSE_VALUE, STAGE_NEAR, SIDE_NONE, 0});
    close_kernel();
}
END_TEST

/* Both are equally long: flush against the guards of one side they would always be aligned alike. */
START_TEST(tensors_of_one_size_are_not_always_aligned_alike)
{
    struct config_result result;
    open_kernel("", "if (((uintptr_t)x - (uintptr_t)y) % 32) y[5] += 1;");
    result = check_seeds(40);
    expect_reason(result.reason, (struct reason){CAUSE_REPEAT, STAGE_MOVED, SIDE_NONE, 0});
    close_kernel();
}
END_TEST

START_TEST(a_sampled_replay_is_found_in_a_check)
{
    struct config_result result;
    open_kernel(sampled, replays);
    result = check_seeds(40); /* near duplicates are drawn for some */
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    expect_reason(result.reason, (struct reason){CAUSE_VALUE, STAGE_NEAR, SIDE_NONE, 0});
    expect_replay("rows=3 cols=100");
    close_kernel();
}
END_TEST

START_TEST(a_sampled_replay_is_found_in_timed_calls)
{
    struct config_result result;
    open_kernel(sampled, replays);
    for (config.seed = 1; config.seed < 40; config.seed++) { /* some have a judged near duplicate */
        result = (struct config_result){0};
        ck_assert_int_eq(session_time(session, &config, 0.01, &result), SESSION_OK);
        if (result.outcome != OUTCOME_PASS)
            break;
    }
    ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
    ck_assert_msg(strstr(result.detail, "with the inputs of the call before except for x[") != NULL, "%s",
                  result.detail);
    expect_replay("in a timed call (number ");
    close_kernel();
}
END_TEST

/* Each proof takes a process or two. Where all answers are replays, proofs would take all of the time. */
START_TEST(one_replay_is_proved_and_the_others_are_wrong)
{
    struct config_result result = {0};
    const struct child *child;
    int findings;
    open_kernel("static float kept[300]; static const float *where;",
                "if (where == x) for (int i = 0; i < 300; i++) y[i] = kept[i];"
                " else for (int i = 0; i < 300; i++) kept[i] = y[i]; where = x;");
    for (config.seed = 1; config.seed < 6; config.seed++) {
        child = session->worker.child;
        result = (struct config_result){0};
        ck_assert_int_eq(session_check(session, &config, &result), SESSION_OK);
        ck_assert_int_eq(result.outcome, OUTCOME_WRONG);
        session_findings(session, &findings);
        ck_assert_int_eq(findings, 1);
        ck_assert(config.seed == 1 || session->worker.child == child);
    }
    close_kernel();
}
END_TEST

TCase *kept_case(void)
{
    TCase *tests = tcase_create("kept");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_a_plan_leaves_out_of_its_key_is_wrong_after_a_twin);
    tcase_add_test(tests, siblings_that_hang_end_the_check);
    tcase_add_loop_test(tests, a_key_without_low_bits_or_signs_is_found_in_a_check, 0, 2);
    tcase_add_test(tests, tensors_of_one_size_are_not_always_aligned_alike);
    tcase_add_test(tests, a_sampled_replay_is_found_in_a_check);
    tcase_add_test(tests, one_replay_is_proved_and_the_others_are_wrong);
    tcase_add_test(tests, a_sampled_replay_is_found_in_timed_calls);
    return tests;
}
