/* The simplest failure in explaining: its steps are run first, and a rule on both sides holds on it. Rules
 * survive a pass by luck. Runs in the repository root. */
#include <check.h>
#include <string.h>

#include "explain_planted.h"
#include "suites.h"

enum { RUNS = 80, UNSEEN = 35, FIRST = 16 };

static struct ground ground;

static struct rule explained(const char *problem, const char *condition,
                             int (*answer)(struct planted *, const struct config *), uint64_t seed)
{
    struct rule rule;
    ground_open(&ground, problem, 11, UNSEEN, DRAW_SCOUTS, 200);
    struct planted planted = plant(&ground, condition);
    planted.answer = answer;
    ck_assert(planted_explain(&planted, RUNS, seed, &rule));
    planted_clear(&planted);
    return rule;
}

/* --- its steps are run --- */

struct log {
    struct config asked[FIRST];
    int count;
};

static int note(void *data, const struct config *config)
{
    struct log *log = data;
    if (log->count < FIRST)
        log->asked[log->count++] = *config;
    return config_value(config, "m") > 1 && config_value(config, "k") % 2 == 1;
}

static struct explain_trial trial_of(const char *line, bool fails)
{
    struct explain_trial trial = {.fails = fails};
    struct space_error error;
    ck_assert_msg(config_parse(&trial.config, problem_find("gemm_f32"), line, "test", &error) == 0, "%s",
                  error.text);
    return trial;
}

static bool was_asked(const struct log *log, const char *line)
{
    const struct explain_trial trial = trial_of(line, false);
    for (int i = 0; i < log->count; i++)
        if (config_same_point(&log->asked[i], &trial.config))
            return true;
    return false;
}

START_TEST(steps_from_the_simplest_failure_are_asked_first)
{
    struct log log = {.count = 0};
    struct rule rule;
    ground_open(&ground, "gemm_f32", 11, UNSEEN, 0, 0);
    const struct explain_trial known[] = {
        trial_of("m=2 n=1 k=3 trans_b=0", true), trial_of("m=7 n=9 k=15 trans_b=1", true),
        trial_of("m=64 n=64 k=64 trans_b=0", false), trial_of("m=1 n=1 k=1 trans_b=0", false)};
    ck_assert_int_eq(
        explain(&ground.space, &ground.caps, &ground.seen, NULL, known, 4, RUNS, 3, note, &log, &rule), 0);
    ck_assert(was_asked(&log, "m=1 n=1 k=3 trans_b=0"));
    ck_assert(was_asked(&log, "m=2 n=1 k=2 trans_b=0"));
    ck_assert_msg(rule.present && strcmp(rule.text, "m > 1 and k % 2 != 0") == 0, "'%s' %s", rule.text,
                  rule.reason);
    ground_close(&ground);
}
END_TEST

/* --- a pass by luck --- */

static uint64_t hash_of(const struct config *config)
{
    uint64_t hash = 7;
    for (int i = 0; config->problem->axes[i].name; i++) {
        hash = (hash ^ (uint64_t)config->value[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* One point in 64 passes where all others fail. */
static int answer_nearly(struct planted *planted, const struct config *config)
{
    return condition_holds(planted->condition, config) && hash_of(config) >> 58 != 0;
}

START_TEST(three_terms_survive_passes_by_luck)
{
    int right = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct rule rule;
        ground_open(&ground, "gemm_w4a16", 11, UNSEEN, DRAW_SCOUTS, 200);
        struct planted planted = plant(&ground, "k % 32 != 0 and m > 1 and zero!=low");
        planted.answer = answer_nearly;
        ck_assert(planted_explain(&planted, RUNS, seed, &rule));
        right += rule.present && planted_agreement(&planted, rule.text, 1) > 0.98;
        planted_clear(&planted);
        ground_close(&ground);
    }
    ck_assert_int_ge(right, 4);
}
END_TEST

/* --- it lies inside --- */

static int answer_least_too(struct planted *planted, const struct config *config)
{
    return condition_holds(planted->condition, config) ||
           (config_value(config, "rows") == 1 && config_value(config, "cols") == 1);
}

START_TEST(a_rule_that_denies_the_simplest_failure_is_sure_on_one_side_only)
{
    const struct rule rule = explained("softmax", "cols > 1000", answer_least_too, 3);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_int_eq(rule.kind, RULE_PARTIAL);
    ck_assert_str_eq(rule.text, "cols > 1000");
    ck_assert_int_gt(rule.failures, rule.explained);
    const struct config left = ground_config(&ground, rule.unexplained[0]);
    ck_assert_int_eq(config_value(&left, "cols"), 1);
    ground_close(&ground);
}
END_TEST

void repeats_tests(TCase *tcase)
{
    tcase_add_test(tcase, steps_from_the_simplest_failure_are_asked_first);
    tcase_add_test(tcase, three_terms_survive_passes_by_luck);
    tcase_add_test(tcase, a_rule_that_denies_the_simplest_failure_is_sure_on_one_side_only);
}
