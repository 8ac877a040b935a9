/* Scouts as users meet them: a failure that they alone find is judged and explained, and asking for N gives
 * N. */
#include "cli.h"

#include <string.h>

#define QUICK "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--effort", "quick"

static const json_t *key(const json_t *object, const char *name)
{
    return json_object_get(object, name);
}

static const char *word(const json_t *object, const char *name)
{
    const char *text = json_string_value(key(object, name));
    return text ? text : "";
}

static int unseen_of(const json_t *root)
{
    return (int)(json_integer_value(key(root, "planned")) - json_integer_value(key(root, "planned_seen")));
}

/* The scouts of the unseen set, or the others; among them those with that outcome, NULL: any. */
static int count(const json_t *root, bool scouts, const char *outcome)
{
    const json_t *result;
    size_t i;
    int found = 0;
    json_array_foreach(key(root, "results"), i, result) found +=
        strcmp(word(result, "set"), "unseen") == 0 && json_is_true(key(result, "scout")) == scouts &&
        (!outcome || strcmp(word(result, "outcome"), outcome) == 0);
    return found;
}

/* A kernel that is wrong where two sizes meet, which happens in none of the 35. */
START_TEST(what_only_scouts_find_is_specialized_and_has_its_rule)
{
    cli_put_kernel("pair.c", "", "rows % 4 == 2 && cols % 16 == 8 ? 0.5 : 0");
    CLI("verify", "softmax", "pair.c", QUICK, "--no-timing", "--blind", "--seed", "2", "--small", "0",
        "--json", "r.json");
    cli_expect(0, "general: ");
    json_t *without = cli_json("r.json");
    CLI("verify", "-v", "softmax", "pair.c", QUICK, "--no-timing", "--blind", "--seed", "2", "--json",
        "s.json");
    cli_expect(1, "specialized: ");
    cli_expect(1, "225 unseen configurations, 190 of them scouts");
    json_t *root = cli_json("s.json");
    ck_assert_int_eq(json_integer_value(key(root, "planned_scouts")), 190);
    ck_assert_int_eq(count(root, false, "pass"), 35);
    ck_assert_int_eq(count(root, false, NULL), 35);
    ck_assert_int_eq(count(root, true, NULL), 190);
    ck_assert_int_ge(count(root, true, "wrong"), 1);
    ck_assert_int_eq(count(root, true, "pass") + count(root, true, "wrong"), 190);
    ck_assert_double_eq_tol(json_number_value(key(key(root, "unseen"), "rate")),
                            (35.0 + count(root, true, "pass")) / 225, 1e-12);
    ck_assert_str_eq(word(root, "minimal"), "rows=2 cols=8 input=normal seed=1");
    ck_assert_msg(json_is_object(key(root, "rule")), "%s", word(key(root, "diagnosis"), "no_rule"));
    for (size_t i = 0; i < 2 + 35; i++) /* the others are those without scouts, in their order */
        ck_assert_str_eq(word(json_array_get(key(root, "results"), i), "config"),
                         word(json_array_get(key(without, "results"), i), "config"));
    ck_assert_str_ne(word(root, "commitment"), word(without, "commitment"));
    json_decref(without);
    json_decref(root);
}
END_TEST

START_TEST(scouts_are_not_timed)
{
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), QUICK, "--seed", "2", "--unseen",
        "3", "--small", "30", "--json", "r.json");
    cli_expect(0, "general: ");
    json_t *root = cli_json("r.json");
    const json_t *result;
    size_t i;
    int timed = 0;
    json_array_foreach(key(root, "results"), i, result)
    {
        ck_assert(json_is_true(key(result, "scout")) == json_is_null(key(result, "time_ms")));
        timed += json_is_object(key(result, "time_ms"));
    }
    ck_assert_int_eq(timed, 2 + 3);
    ck_assert_int_eq(count(root, true, "pass"), 30);
    json_decref(root);
}
END_TEST

/* `verify` runs the lines that `draw` prints, scouts and directed ones and all. */
START_TEST(scouts_are_part_of_what_is_committed_to)
{
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), "--device", "host", "--contract",
        "tiny.space", "--effort", "quick", "--seed", "2", "--no-timing", "--json", "r.json");
    json_t *root = cli_json("r.json");
    CLI("draw", "softmax", cli_repository("problems/softmax/baseline.c"), "--device", "host", "--contract",
        "tiny.space", "--effort", "quick", "--seed", "2");
    cli_expect(0, "  # unseen: scout\n");
    ck_assert_msg(strstr(cli.err, word(root, "commitment")) != NULL, "%s", cli.err);
    const json_t *result;
    size_t i;
    json_array_foreach(key(root, "results"), i, result)
        ck_assert_msg(strstr(cli.out, word(result, "config")) != NULL, "%s", word(result, "config"));
    ck_assert_int_eq(count(root, true, NULL), 190);
    json_decref(root);
}
END_TEST

START_TEST(who_asks_for_a_number_gets_that_number)
{
    static const char *const efforts[] = {"quick", "standard"};
    for (int i = 0; i < 2; i++) {
        CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), "--device", "host",
            "--contract", "tiny.space", "--seen", "tiny.seen", "--no-timing", "--seed", "2", "--unseen", "4",
            "--effort", efforts[i], "--json", "r.json");
        json_t *root = cli_json("r.json");
        ck_assert_int_eq(unseen_of(root), 4);
        ck_assert_int_eq(count(root, true, NULL), 0);
        json_decref(root);
    }
    cli_put("given.seen", "rows=3 cols=5\n");
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), QUICK, "--no-timing",
        "--unseen-set", "given.seen", "--json", "r.json");
    json_t *root = cli_json("r.json");
    ck_assert_int_eq(unseen_of(root), 1);
    json_decref(root);
    CLI("verify", "softmax", cli_repository("problems/softmax/baseline.c"), QUICK, "--unseen-set",
        "given.seen", "--small", "3");
    cli_expect_error(2, "--small 3 beside --unseen-set", "expected one of them", "leave out --small");
}
END_TEST

TCase *cli_scouts_case(void)
{
    TCase *tests = tcase_create("scouts");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, what_only_scouts_find_is_specialized_and_has_its_rule);
    tcase_add_test(tests, scouts_are_not_timed);
    tcase_add_test(tests, scouts_are_part_of_what_is_committed_to);
    tcase_add_test(tests, who_asks_for_a_number_gets_that_number);
    return tests;
}
