/* The table of retries: which results run again, under which condition, how often, and whether the documented
 * table is the same. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "suites.h"
#include "verify/session/retry.h"
#include "verify/util/interrupt.h"

static const struct {
    enum retry_step step;
    enum outcome outcome;
    enum cause cause;
    enum stage stage;
    unsigned facts;
    const char *rule; /* NULL: the result stands */
    enum retry_condition condition;
    int times;
} cases[] = {
    {RETRY_STEP_PROCESS, OUTCOME_WRONG, CAUSE_VALUE, STAGE_FIRST, RETRY_EXCEPTION_BEFORE, "exception",
     RETRY_NEW_PROCESS, 1},
    {RETRY_STEP_PROCESS, OUTCOME_WRONG, CAUSE_VALUE, STAGE_FIRST, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_PROCESS, OUTCOME_SKIPPED, CAUSE_MEMORY, STAGE_FIRST, RETRY_EXCEPTION_BEFORE, NULL},
    {RETRY_STEP_PROCESS, OUTCOME_PASS, CAUSE_NONE, STAGE_FIRST, RETRY_EXCEPTION_BEFORE, NULL},
    {RETRY_STEP_MEMORY, OUTCOME_SKIPPED, CAUSE_MEMORY, STAGE_NOT_RUN, RETRY_NO_FACTS, "memory",
     RETRY_EXCLUSIVE_MEMORY, 1},
    {RETRY_STEP_MEMORY, OUTCOME_SKIPPED, CAUSE_BUDGET, STAGE_NOT_RUN, RETRY_MEMORY_ELSEWHERE, NULL},
    {RETRY_STEP_MEMORY, OUTCOME_REFUSED, CAUSE_RETURN, STAGE_FRESH, RETRY_MEMORY_ELSEWHERE, "refusal",
     RETRY_EXCLUSIVE_MEMORY, 1},
    {RETRY_STEP_MEMORY, OUTCOME_REFUSED, CAUSE_RETURN, STAGE_FRESH, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_MEMORY, OUTCOME_WRONG, CAUSE_VALUE, STAGE_FRESH, RETRY_MEMORY_ELSEWHERE, NULL},
    {RETRY_STEP_SIGNAL, OUTCOME_CRASH, CAUSE_KILLED, STAGE_FIRST, RETRY_NO_FACTS, "killed", RETRY_AS_BEFORE,
     1},
    {RETRY_STEP_SIGNAL, OUTCOME_CRASH, CAUSE_END, STAGE_FIRST, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_TIME, OUTCOME_TIMEOUT, CAUSE_TIME, STAGE_MOVED, RETRY_NO_HANG_YET, "timeout",
     RETRY_ALONE_BASELINE, 1},
    {RETRY_STEP_TIME, OUTCOME_TIMEOUT, CAUSE_TIME, STAGE_LOADING, RETRY_NO_HANG_YET, "loading", RETRY_ALONE,
     1},
    {RETRY_STEP_TIME, OUTCOME_TIMEOUT, CAUSE_TIME, STAGE_MOVED, RETRY_SLOW_BASELINE, "slow",
     RETRY_ALONE_BASELINE, 1},
    {RETRY_STEP_TIME, OUTCOME_TIMEOUT, CAUSE_TIME, STAGE_MOVED, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_TIME, OUTCOME_TIMEOUT, CAUSE_TIME, STAGE_LOADING, RETRY_SLOW_BASELINE, NULL},
    {RETRY_STEP_TIME, OUTCOME_CRASH, CAUSE_KILLED, STAGE_MOVED, RETRY_NO_HANG_YET, NULL},
    {RETRY_STEP_SIBLING, OUTCOME_EXCEEDED, CAUSE_LIMIT, STAGE_FIRST, RETRY_NO_FACTS, "sibling",
     RETRY_BOTH_ORDERS, 1},
    {RETRY_STEP_SIBLING, OUTCOME_REFUSED, CAUSE_RETURN, STAGE_FIRST, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_SIBLING, OUTCOME_TIMEOUT, CAUSE_TIME, STAGE_FIRST, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_SIBLING, OUTCOME_CRASH, CAUSE_KILLED, STAGE_FIRST, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_SEARCH, OUTCOME_CRASH, CAUSE_END, STAGE_FIRST, RETRY_NO_FACTS, "search", RETRY_BOTH_ORDERS,
     3},
    {RETRY_STEP_SEARCH, OUTCOME_CRASH, CAUSE_END, STAGE_LOADING, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_SEARCH, OUTCOME_EXCEEDED, CAUSE_LIMIT, STAGE_FIRST, RETRY_NO_FACTS, NULL},
    {RETRY_STEP_FOUND, OUTCOME_CRASH, CAUSE_END, STAGE_FIRST, RETRY_NO_FACTS, "found", RETRY_BOTH_ORDERS, 1},
    {RETRY_STEP_AFTER, OUTCOME_WRONG, CAUSE_VALUE, STAGE_FIRST, RETRY_NO_FACTS, "after", RETRY_BOTH_ORDERS,
     1},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct config_result result_of(int i)
{
    return (struct config_result){
        .outcome = cases[i].outcome,
        .reason = {.cause = cases[i].cause, .stage = cases[i].stage},
    };
}

START_TEST(a_result_runs_again_as_its_rule_says)
{
    const struct config_result result = result_of(_i), before = {.flops = 7};
    struct retry retry = retry_begin(cases[_i].step, &before);
    ck_assert_double_eq(retry.before.flops, 7);
    for (int k = 0; k < cases[_i].times; k++) {
        const struct retry_rule *const rule = retry_again(&retry, &result, cases[_i].facts);
        ck_assert_ptr_nonnull(rule);
        ck_assert_str_eq(rule->name, cases[_i].rule);
        ck_assert_int_eq(rule->condition, cases[_i].condition);
    }
    ck_assert_ptr_null(retry_again(&retry, &result, cases[_i].facts));
    ck_assert_int_eq(retry_find(cases[_i].step, &result, cases[_i].facts) != NULL, cases[_i].rule != NULL);
}
END_TEST

static void end_nothing(void)
{
}

START_TEST(an_interrupt_ends_repetition)
{
    const struct config_result killed = {.outcome = OUTCOME_CRASH, .reason.cause = CAUSE_KILLED};
    struct retry retry = retry_begin(RETRY_STEP_SIGNAL, &killed);
    catch_signals(end_nothing);
    raise(SIGINT);
    ck_assert_ptr_null(retry_again(&retry, &killed, RETRY_NO_FACTS));
}
END_TEST

/* A process that has raised an exception is suspected for every rejected outcome. */
START_TEST(rejected_outcomes_are_those_of_the_table_of_outcomes)
{
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const struct config_result result = {.outcome = (enum outcome)i};
        ck_assert_int_eq(retry_find(RETRY_STEP_PROCESS, &result, RETRY_EXCEPTION_BEFORE) != NULL,
                         outcome_is_rejected((enum outcome)i));
    }
}
END_TEST

/* The row of the documented table that begins with the rule's name ends with its number of repetitions and
 * the result that counts. */
START_TEST(the_documented_table_is_this_one)
{
    static const char *const conditions[] = {"as before",
                                             "new process",
                                             "exclusive memory gate",
                                             "alone",
                                             "alone, the baseline's limit",
                                             "both orders, new processes"};
    static const char *const counts[] = {"last", "last; `skipped` for lack of memory", "the pair"};
    static char page[60000];
    FILE *const file = fopen(cli_repository("doc/architecture.md"), "re");
    ck_assert_ptr_nonnull(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (int i = 0; i < RETRY_RULES; i++) {
        const struct retry_rule *const rule = &retry_rules()[i];
        char start[40], end[160];
        snprintf(start, sizeof start, "\n| `%s` |", rule->name);
        snprintf(end, sizeof end, " | %s | %d | %s |", conditions[rule->condition], rule->times,
                 counts[rule->counts]);
        char *const row = strstr(page, start);
        ck_assert_msg(row != NULL, "doc/architecture.md has no row for %s", rule->name);
        const size_t length = strcspn(row + 1, "\n"), tail = strlen(end);
        ck_assert_msg(length > tail && strncmp(row + 1 + length - tail, end, tail) == 0,
                      "%s: expected a row that ends with%s", rule->name, end);
    }
}
END_TEST

TCase *retry_case(void)
{
    TCase *tests = tcase_create("retry");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_loop_test(tests, a_result_runs_again_as_its_rule_says, 0, CASES);
    tcase_add_test(tests, an_interrupt_ends_repetition);
    tcase_add_test(tests, rejected_outcomes_are_those_of_the_table_of_outcomes);
    tcase_add_test(tests, the_documented_table_is_this_one);
    return tests;
}
