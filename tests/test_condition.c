/* Conditions on configurations: what they mean, and what is no condition. */
#include <check.h>
#include <string.h>

#include "../gen/condition.h"
#include "suites.h"

static const char *const lines[] = {"m=1 n=64 k=2 group=32 zero=drawn input=normal",
                                    "m=16 n=64 k=130 group=128 zero=high input=wide",
                                    "m=33 n=7 k=64 group=64 zero=low input=needle"};
enum { LINES = sizeof lines / sizeof *lines };

/* For each line above, '1' where it holds. */
static const struct {
    const char *text, *holds;
} conditions[] = {
    {"any", "111"},
    {"k % group != 0", "110"},
    {"zero=high", "010"},
    {"zero!=high", "101"},
    {"m > 1 and n % 8 == 0", "010"},
    {"m > 100 or n < 8", "001"},
    {"m > 1 and zero=low or k == 2", "101"},
    {"k == 2 or m > 1 and zero=low", "101"},
    {"m > 1 and zero=drawn or m > 1 and input=normal", "000"},
    {"k % group != 0 and k > group", "010"},
    {"m * n > 200 and input=wide and zero=high or k / 2 == 1", "110"},
};

START_TEST(a_condition_holds_where_it_says)
{
    const struct problem *problem = problem_find("gemm_w4a16");
    char why[256];
    struct condition *condition = condition_parse(problem, conditions[_i].text, why, sizeof why);
    ck_assert_msg(condition != NULL, "%s: %s", conditions[_i].text, why);
    for (int l = 0; l < LINES; l++) {
        struct config config;
        struct space_error error;
        ck_assert_msg(config_parse(&config, problem, lines[l], "test", &error) == 0, "%s", error.text);
        ck_assert_msg(condition_holds(condition, &config) == (conditions[_i].holds[l] == '1'),
                      "'%s' on %s", conditions[_i].text, lines[l]);
    }
    condition_free(condition);
}
END_TEST

static const struct {
    const char *text, *why;
} wrong[] = {
    {"", "ends early"},
    {"m", "an operator or a comparison"},
    {"z == 3", "name of a number axis"},
    {"zero=nothing", "name of a number axis"},
    {"m == 3 and", "the end of the limit"},
    {"m == 3 or z < 2", "name of a number axis"},
    {"input == 1", "name of a number axis"},
};

START_TEST(what_is_no_condition_is_said_to_be_none)
{
    char why[256];
    ck_assert_ptr_null(condition_parse(problem_find("gemm_w4a16"), wrong[_i].text, why, sizeof why));
    ck_assert_msg(strstr(why, wrong[_i].why) != NULL, "'%s': %s", wrong[_i].text, why);
}
END_TEST

Suite *condition_suite(void)
{
    Suite *suite = suite_create("condition");
    TCase *tcase = tcase_create("condition");
    tcase_add_loop_test(tcase, a_condition_holds_where_it_says, 0,
                        (int)(sizeof conditions / sizeof *conditions));
    tcase_add_loop_test(tcase, what_is_no_condition_is_said_to_be_none, 0,
                        (int)(sizeof wrong / sizeof *wrong));
    suite_add_tcase(suite, tcase);
    return suite;
}
