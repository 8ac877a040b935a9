/* Failures that are no plain condition get a rule that is sure of one side, or the reason why they have none.
 * Runs in the repository root. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "explain_planted.h"
#include "share.h"
#include "suites.h"

enum { UNSEEN = 300 };

static struct ground ground;

static void close_ground(void)
{
    ground_close(&ground);
}

static void open_ground(const char *problem)
{
    ground_open(&ground, problem, 11, UNSEEN, 0, 200);
}

static struct rule explained(const char *condition, int (*answer)(struct planted *, const struct config *))
{
    return planted_rule(&ground, condition, answer);
}

START_TEST(what_always_fails_fails_on_any)
{
    open_ground("gemm_f32");
    const struct rule rule = explained("any", NULL);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "any");
    ck_assert_int_ge(rule.inside, 40);
    ck_assert_int_eq(rule.outside, 0);
    close_ground();
}
END_TEST

static int answer_by_heart(struct planted *planted, const struct config *config)
{
    for (int i = 0; i < planted->ground->seen.count; i++)
        if (config_same_point(config, &planted->ground->seen.item[i]))
            return 0;
    return 1;
}

START_TEST(a_kernel_that_knows_the_seen_points_by_heart_fails_on_any_other)
{
    open_ground("gemm_bf16");
    const struct rule rule = explained("any", answer_by_heart);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "any");
    ck_assert(rule.precision < 1 && rule.precision > 0.95);
    close_ground();
}
END_TEST

static int answer_by_heart_else_condition(struct planted *planted, const struct config *config)
{
    return answer_by_heart(planted, config) && condition_holds(planted->condition, config);
}

START_TEST(points_known_by_heart_leave_the_rule_for_others)
{
    open_ground("gemm_bf16");
    const struct rule rule = explained("n > 37 and k > 43", answer_by_heart_else_condition);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "n >= 38 and k >= 44");
    ck_assert_int_le(rule.runs, 100);
    ck_assert(rule.precision < 1 && rule.recall == 1);
    close_ground();
}
END_TEST

static int answer_race(struct planted *planted, const struct config *config)
{
    (void)config;
    planted->state = planted->state * 6364136223846793005u + 1442695040888963407u;
    return planted->state >> 62 == 0;
}

START_TEST(a_race_does_not_repeat)
{
    open_ground("softmax");
    const struct rule rule = explained("any", answer_race);
    ck_assert(!rule.present);
    ck_assert_msg(strstr(rule.reason, "does not repeat: run again") != NULL, "%s", rule.reason);
    ck_assert_int_le(rule.runs, PLANTED_RUNS);
    close_ground();
}
END_TEST

static int answer_race_inside(struct planted *planted, const struct config *config)
{
    return condition_holds(planted->condition, config) && !answer_race(planted, config);
}

/* The side where it can happen is known, and it was seen on no other. */
START_TEST(a_race_has_a_rule_that_is_sure_of_where_it_does_not_happen)
{
    open_ground("softmax");
    const struct rule rule = explained("cols > 1000", answer_race_inside);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_int_eq(rule.kind, RULE_NECESSARY);
    ck_assert_str_eq(rule.text, "cols > 1000");
    ck_assert_str_eq(rule.reason, "");
    close_ground();
}
END_TEST

static int answer_by_seed(struct planted *planted, const struct config *config)
{
    (void)planted;
    return config->seed * 0x9e3779b97f4a7c15u >> 62 == 0;
}

START_TEST(a_failure_of_the_contents_does_not_repeat_with_others)
{
    open_ground("softmax");
    const struct rule rule = explained("any", answer_by_seed);
    ck_assert(!rule.present);
    ck_assert_msg(strstr(rule.reason, "with another seed") != NULL, "%s", rule.reason);
    ck_assert_msg(!strstr(rule.reason, "closest"), "what nearly always holds: %s", rule.reason);
    close_ground();
}
END_TEST

/* Depends on the point, and on nothing that a rule can express. */
static uint64_t chance = 7;

static uint64_t three_bits(const struct config *config)
{
    uint64_t hash = chance;
    for (int i = 0; config->problem->axes[i].name; i++) {
        hash = (hash ^ (uint64_t)config->value[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash >> 61;
}

static int answer_by_hash(struct planted *planted, const struct config *config)
{
    (void)planted;
    return three_bits(config) < 2;
}

START_TEST(a_rule_that_fresh_runs_contradict_is_not_printed)
{
    open_ground("softmax");
    const struct rule rule = explained("any", answer_by_hash);
    ck_assert_msg(!rule.present, "%s", rule.text);
    ck_assert_msg(strstr(rule.reason, "contradicted") != NULL, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "");
    close_ground();
}
END_TEST

static int answer_six_in_eight(struct planted *planted, const struct config *config)
{
    return condition_holds(planted->condition, config) && three_bits(config) > 1;
}

START_TEST(a_rule_right_on_three_quarters_is_sure_on_one_side)
{
    open_ground("softmax");
    const struct rule rule = explained("cols > 1000", answer_six_in_eight);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_int_eq(rule.kind, RULE_NECESSARY);
    ck_assert_str_eq(rule.text, "cols > 1000");
    ck_assert_int_eq(rule.explained, rule.failures);
    ck_assert_int_eq(rule.passes_outside, rule.outside);
    ck_assert_int_lt(rule.fails_inside, rule.inside);
    ck_assert(rule.recall == 1 && rule.precision > 0.5 && rule.precision < 0.95);
    close_ground();
}
END_TEST

START_TEST(whichever_quarter_passes_no_rule_right_on_three_is_called_sure_on_both)
{
    SHARE_TEST(_i, 4);
    open_ground("softmax");
    chance = 100 + (uint64_t)_i;
    const struct rule rule = explained("cols > 1000", answer_six_in_eight);
    ck_assert_msg(!rule.present || rule.kind == RULE_NECESSARY, "%s: %d of %d inside, %d of %d outside",
                  rule.text, rule.fails_inside, rule.inside, rule.passes_outside, rule.outside);
    close_ground();
}
END_TEST

static int answer_odd_needles(struct planted *planted, const struct config *config)
{
    const char *input = problem_choice(config->problem, problem_axis_index(config->problem, "input"),
                                       config_value(config, "input"));
    return condition_holds(planted->condition, config) &&
           (strcmp(input, "needle") == 0 || config->seed % 8 == 0);
}

START_TEST(what_failures_inside_have_in_common_is_told)
{
    open_ground("softmax");
    const struct rule rule = explained("cols % 4 != 0", answer_odd_needles);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_int_eq(rule.kind, RULE_NECESSARY);
    ck_assert_str_eq(rule.text, "cols % 4 != 0");
    ck_assert_str_eq(rule.inner, "input=needle");
    ck_assert_int_eq(rule.inner_fails, rule.inner_runs);
    ck_assert_int_eq(rule.inner_fails + rule.other_fails, rule.explained);
    ck_assert_int_lt(3 * rule.other_fails, rule.other_runs);
    close_ground();
}
END_TEST

static int answer_long_and_some(struct planted *planted, const struct config *config)
{
    return condition_holds(planted->condition, config) || three_bits(config) == 3;
}

START_TEST(a_partial_rule_names_the_failures_that_it_leaves)
{
    open_ground("softmax");
    const struct rule rule = explained("cols > 2048", answer_long_and_some);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_int_eq(rule.kind, RULE_PARTIAL);
    ck_assert_str_eq(rule.text, "cols > 2048");
    ck_assert_int_eq(rule.fails_inside, rule.inside);
    ck_assert_int_lt(rule.explained, rule.failures);
    ck_assert(rule.precision == 1);
    for (int i = 0; i < RULE_UNEXPLAINED; i++) {
        const struct config config = ground_config(&ground, rule.unexplained[i]);
        ck_assert_int_le(config_value(&config, "cols"), 2048);
        ck_assert_int_eq(three_bits(&config), 3);
    }
    close_ground();
}
END_TEST

/* Now and then a failure is missed, by tolerance, or because the wrong element rounds to the right one. */
static int answer_mostly(struct planted *planted, const struct config *config)
{
    return condition_holds(planted->condition, config) && config->seed * 0x9e3779b97f4a7c15u >> 59 != 0;
}

START_TEST(a_few_failures_that_do_not_show_leave_the_rule)
{
    open_ground("softmax");
    const struct rule rule = explained("cols % 64 != 0", answer_mostly);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "cols % 64 != 0");
    ck_assert(rule.precision > 0.9 && rule.precision < 1 && rule.recall == 1);
    close_ground();
}
END_TEST

static int answer_refusing(struct planted *planted, const struct config *config)
{
    const int rows = problem_axis_index(config->problem, "rows");
    return config->value[rows] % 4 == 3 ? -1 : condition_holds(planted->condition, config);
}

START_TEST(what_is_refused_tells_nothing)
{
    open_ground("softmax");
    const struct rule rule = explained("cols > 5000", answer_refusing);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "cols > 5000");
    ck_assert_int_lt(rule.inside + rule.outside, rule.runs);
    ck_assert(rule.precision == 1 && rule.recall == 1);
    close_ground();
}
END_TEST

enum { ANSWERS = 10 };

/* After the known failures, ANSWERS answers and then the word to stop. */
static int answer_stopping(struct planted *planted, const struct config *config)
{
    const int asked = (int)planted->state++ - ground.known.count;
    ck_assert_int_le(asked, ANSWERS);
    return asked < ANSWERS ? condition_holds(planted->condition, config) : -2;
}

START_TEST(being_stopped_ends_it)
{
    open_ground("softmax");
    struct planted planted = plant(&ground, "rows > 1 and cols % 64 != 0");
    struct rule rule;
    planted.answer = answer_stopping;
    planted.state = 0;
    ck_assert(planted_explain(&planted, PLANTED_RUNS, 3, &rule));
    ck_assert_int_eq(planted.asked, ANSWERS + 1);
    ck_assert_int_eq(rule.runs, ANSWERS);
    ck_assert(!rule.present);
    planted_clear(&planted);
    close_ground();
}
END_TEST

START_TEST(without_runs_nothing_is_confirmed)
{
    struct rule rule;
    open_ground("softmax");
    struct planted planted = plant(&ground, "cols > 5000");
    ck_assert(planted_explain(&planted, 0, 3, &rule));
    ck_assert(!rule.present);
    ck_assert_int_eq(planted.asked, 0);
    ck_assert_msg(strstr(rule.reason, "too few") != NULL, "%s", rule.reason);
    planted_clear(&planted);
    close_ground();
}
END_TEST

void statement_tests(TCase *tcase)
{
    tcase_add_test(tcase, what_always_fails_fails_on_any);
    tcase_add_test(tcase, a_kernel_that_knows_the_seen_points_by_heart_fails_on_any_other);
    tcase_add_test(tcase, points_known_by_heart_leave_the_rule_for_others);
    tcase_add_test(tcase, a_race_does_not_repeat);
    tcase_add_test(tcase, a_race_has_a_rule_that_is_sure_of_where_it_does_not_happen);
    tcase_add_test(tcase, a_failure_of_the_contents_does_not_repeat_with_others);
    tcase_add_test(tcase, a_rule_that_fresh_runs_contradict_is_not_printed);
    tcase_add_test(tcase, a_rule_right_on_three_quarters_is_sure_on_one_side);
    tcase_add_loop_test(tcase, whichever_quarter_passes_no_rule_right_on_three_is_called_sure_on_both, 0, 24);
    tcase_add_test(tcase, what_failures_inside_have_in_common_is_told);
    tcase_add_test(tcase, a_partial_rule_names_the_failures_that_it_leaves);
    tcase_add_test(tcase, a_few_failures_that_do_not_show_leave_the_rule);
    tcase_add_test(tcase, what_is_refused_tells_nothing);
    tcase_add_test(tcase, being_stopped_ends_it);
    tcase_add_test(tcase, without_runs_nothing_is_confirmed);
}
