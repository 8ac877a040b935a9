/* The budget for timeouts: what it allows, when it ends, and what it says. */
#include <check.h>
#include <math.h>

#include "suites.h"
#include "verify/session/timeout_budget.h"

/* Seconds for all, the limit of a call, may it be shortened; then the timeouts in full and those that are cut
 * short until the budget is over. */
static const struct {
    double seconds, limit;
    bool may_shorten;
    int timeouts, cut;
    double brief;
} budgets[] = {
    {60, 20, true, 1, 20, 1},     {120, 20, true, 2, 60, 1}, {60, 2, true, 14, 60, 0.5},
    {60, 0.4, true, 149, 0, 0.4}, {0, 20, true, 1, 0, 1},    {60, 600, false, 1, 0, 600},
    {60, 10, false, 5, 0, 10},
};

START_TEST(a_budget_is_spent_in_full_and_then_in_short_limits)
{
    struct timeout_budget b =
        timeout_budget_open(budgets[_i].seconds, budgets[_i].limit, budgets[_i].may_shorten);
    ck_assert_double_eq(timeout_budget_limit(&b), budgets[_i].limit);
    ck_assert(!timeout_budget_is_over(&b));
    b.answered = true;
    timeout_budget_begin(&b, false);
    for (int i = 0; i < 1000 && !timeout_budget_is_over(&b); i++) {
        const double limit = timeout_budget_limit(&b);
        ck_assert(limit == budgets[_i].limit || limit == budgets[_i].brief);
        ck_assert_int_eq(timeout_budget_wait(&b, limit), limit == budgets[_i].limit);
    }
    ck_assert_int_eq(b.timeouts, budgets[_i].timeouts);
    ck_assert_int_eq(b.cut, budgets[_i].cut);
    ck_assert_double_le(b.spent, fmax(budgets[_i].seconds, 2 * budgets[_i].limit) + 1e-9);
}
END_TEST

START_TEST(loading_ends_a_run_at_once_and_nothing_but_timeouts_soon)
{
    char text[200];
    struct timeout_budget b = timeout_budget_open(60, 2, true);
    timeout_budget_begin(&b, false);
    for (int i = 0; i < 3; i++) {
        ck_assert(!timeout_budget_is_over(&b));
        timeout_budget_wait(&b, 2);
    }
    ck_assert(timeout_budget_is_over(&b));
    timeout_budget_explain(&b, text, sizeof text);
    ck_assert_str_eq(text, "not run: 4 others had already timed out, and none had ended in time");
    b.answered = true;
    ck_assert(!timeout_budget_is_over(&b));
    timeout_budget_begin(&b, true);
    ck_assert(timeout_budget_is_over(&b));
}
END_TEST

START_TEST(the_summary_says_what_timeouts_took)
{
    char text[200];
    struct timeout_budget b = timeout_budget_open(120, 20, true);
    timeout_budget_begin(&b, false);
    timeout_budget_summary(&b, 0, text, sizeof text);
    ck_assert_str_eq(text, "1 configuration timed out; 40 of 120 s for timeouts were spent");
    timeout_budget_begin(&b, false);
    timeout_budget_wait(&b, 1);
    timeout_budget_summary(&b, 12, text, sizeof text);
    ck_assert_str_eq(text,
                     "2 configurations timed out, 1 more did not end within 1 s; 81 of 120 s for timeouts "
                     "were spent; 12 configurations did not run");
}
END_TEST

TCase *timeout_budget_case(void)
{
    TCase *tests = tcase_create("timeout budget");
    tcase_add_loop_test(tests, a_budget_is_spent_in_full_and_then_in_short_limits, 0,
                        sizeof budgets / sizeof *budgets);
    tcase_add_test(tests, loading_ends_a_run_at_once_and_nothing_but_timeouts_soon);
    tcase_add_test(tests, the_summary_says_what_timeouts_took);
    return tests;
}
