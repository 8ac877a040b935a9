/* Conditions on configurations: their meaning, and texts that are no conditions. */
#include <check.h>
#include <string.h>

#include "gen/contract/condition.h"
#include "suites.h"
#include "gen_fixture.h"

static const char *const lines[] = {"m=1 n=64 k=2 group=32 zero=drawn input=normal",
                                    "m=16 n=64 k=130 group=128 zero=high input=wide",
                                    "m=33 n=7 k=64 group=64 zero=low input=needle"};

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
    {"pow2(n)", "110"},
    {"pow2(group) and not pow2(n)", "001"},
    {"not pow2(k)", "010"},
    {"pow2(m - 1)", "001"},
    {"gcd(k, group) == 2", "110"},
    {"gcd(m, n) * 2 == m * 2", "110"},
    {"m in {1, 33}", "101"},
    {"m not in {1, 33}", "010"},
    {"not m in {1, 33} or k in {2}", "110"},
    {"k in {group, 2 * m}", "101"},
    {"zero in {high, low}", "011"},
    {"zero not in { high , low }", "100"},
    {"zero in {drawn}", "100"},
    {"not m > 1", "100"},
    {"m * n > 200 and input=wide and zero=high or k / 2 == 1", "110"},
};

/* `holds`: '1' or '0' for each of the lines. */
static void expect_holds(const char *problem, const char *text, const char *const *line, const char *holds)
{
    char why[256];
    struct condition *condition = condition_parse(problem_find(problem), text, why, sizeof why);
    ck_assert_msg(condition != NULL, "%s: %s", text, why);
    for (int l = 0; holds[l]; l++) {
        const struct config config = parse(problem, line[l]);
        ck_assert_msg(condition_holds(condition, &config) == (holds[l] == '1'), "'%s' on %s", text, line[l]);
    }
    condition_free(condition);
}

START_TEST(a_condition_holds_where_it_says)
{
    expect_holds("gemm_w4a16", conditions[_i].text, lines, conditions[_i].holds);
}
END_TEST

static const char *const routed[] = {"tokens=100 hidden_dim=8 inter_dim=8 experts=4 routing=even",
                                     "tokens=100 hidden_dim=8 inter_dim=8 experts=4 routing=one seed=3",
                                     "tokens=3 hidden_dim=64 inter_dim=8 experts=4 routing=even"};

/* 25 and 25 rows, 100 and 0, 1 and 0. */
static const struct {
    const char *text, *holds;
} derived[] = {
    {"most_rows > 25", "010"},
    {"most_rows == least_rows", "100"},
    {"least_rows == 0 and hidden_dim % 64 != 0", "010"},
    {"most_rows % 5 != 0 or routing=one", "011"},
    {"2 * most_rows - tokens / experts <= 25 and routing!=one", "101"},
};

START_TEST(a_condition_may_name_a_derived_size)
{
    expect_holds("moe_up", derived[_i].text, routed, derived[_i].holds);
}
END_TEST

static const struct {
    const char *text, *why;
} wrong[] = {
    {"", "ends early"},
    {"pow2(m", "an operator or ')'"},
    {"pow2(m) + 1", "an operator or a comparison"},
    {"gcd(m) == 1", "',' and a second number"},
    {"gcd(m, k)", "an operator or a comparison"},
    {"m in 3", "'{'"},
    {"m in {}", "name of a number axis"},
    {"m in {3", "',' or '}'"},
    {"m in {3} 4", "the end of the limit"},
    {"m not 3", "'in'"},
    {"zero in {high, nothing}", "name of a number axis"},
    {"zero in {high", "name of a number axis"},
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
    tcase_add_loop_test(tcase, a_condition_may_name_a_derived_size, 0,
                        (int)(sizeof derived / sizeof *derived));
    tcase_add_loop_test(tcase, what_is_no_condition_is_said_to_be_none, 0,
                        (int)(sizeof wrong / sizeof *wrong));
    suite_add_tcase(suite, tcase);
    return suite;
}
