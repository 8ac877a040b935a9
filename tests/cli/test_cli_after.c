/* Failures only after another configuration in the same process: found, named, and seen again from one
 * line. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#define QUICK                                                                                                \
    "--device", "host", "--contract", "small.space", "--seen", "small.seen", "--effort", "quick",            \
        "--no-timing"
#define CHECK "--device", "host", "--contract", "small.space"

static const char planned[] =
    "static struct { int64_t key, rows, cols; } plans[4096]; int at = 0;"
    " while (plans[at].key && plans[at].key != %s) at++;"
    " if (!plans[at].key) { plans[at].key = %s; plans[at].rows = rows; plans[at].cols = cols; }"
    " if (plans[at].rows != rows || plans[at].cols != cols) { for (int64_t i = 0; i < rows * cols;"
    " i++) y[i] = 1; return 0; }";

static void put(const char *name, const char *key)
{
    char hook[600];
    snprintf(hook, sizeof hook, planned, key, key);
    cli_put("small.space", "rows 1..256 tile 4 32\ncols 1..256 tile 8 32\ninput normal wide needle\n");
    cli_put("small.seen", "rows=64 cols=64\nrows=16 cols=128\n");
    cli_put_kernel(name, hook, "0");
}

static const json_t *key(const json_t *object, const char *name)
{
    return json_object_get(object, name);
}

static const char *word(const json_t *object, const char *name)
{
    const char *text = json_string_value(key(object, name));
    return text ? text : "";
}

/* {key, its text, whose sum or product is equal in both lines} */
static const struct {
    const char *key, *says;
} kept[] = {{"rows * cols", "equal rows*cols"},
            {"rows + cols", "equal rows+cols"},
            {"cols", "equal except for rows"}};

START_TEST(a_plan_under_a_key_that_two_share_is_found_and_the_call_before_is_named)
{
    char says[200];
    put("kept.c", kept[_i].key);
    CLI("verify", "softmax", "kept.c", QUICK, "--seed", "3", "--json", "r.json");
    cli_expect(1, "specialized: ");
    json_t *root = cli_json("r.json");
    ck_assert_int_eq(cli_count(root, "seen", "pass"), 2);
    const json_t *diagnosis = key(root, "diagnosis"), *pair = key(key(diagnosis, "minimal"), "pair");
    ck_assert_msg(json_is_null(key(root, "rule")), "%s", word(key(root, "rule"), "text"));
    snprintf(says, sizeof says, "only after another configuration in the same process: %s (", kept[_i].says);
    ck_assert_msg(strstr(word(diagnosis, "no_rule"), says) != NULL, "%s", word(diagnosis, "no_rule"));
    ck_assert_ptr_nonnull(strstr(word(diagnosis, "no_rule"), "passes by itself"));
    ck_assert_ptr_nonnull(strstr(cli.out, "--after '"));
    ck_assert_ptr_null(strstr(cli.out, "no rule"));

    const char *const config = word(pair, "config"), *const after = word(pair, "after");
    ck_assert_str_ne(config, "");
    CLI("check", "softmax", "kept.c", config, CHECK, "--after", after, "--json", "c.json");
    cli_expect(1, "wrong: ");
    cli_expect(1, "right in a process of its own");
    CLI("check", "softmax", "kept.c", config, CHECK, "--after", "rows=101 cols=103");
    cli_expect(0, "pass: ");
    CLI("shrink", "softmax", "kept.c", config, CHECK, "--after", after);
    cli_expect(1, "--after '");
    json_decref(root);
}
END_TEST

START_TEST(a_plan_under_the_whole_key_is_general)
{
    put("whole.c", "(rows << 20 | cols)");
    CLI("verify", "softmax", "whole.c", QUICK, "--seed", "3");
    cli_expect(0, "general: ");
}
END_TEST

START_TEST(what_does_not_take_two_is_said)
{
    put("whole.c", "(rows << 20 | cols)");
    CLI("shrink", "softmax", "whole.c", "rows=3 cols=4", CHECK, "--after", "rows=4 cols=3");
    cli_expect_error(2, "passes after the other one", "expected", "take both from one line");
    CLI("check", "softmax", "whole.c", "rows=3 cols=4", CHECK, "--after", "rows=4 cols=999");
    cli_expect_error(2, "999", "", "");
    CLI("check", "softmax", "whole.c", "rows=3 cols=4", CHECK, "--after", "rows=4 cols=3", "--values",
        "seed=7 keep=x[0,0]");
    cli_expect_error(2, "--after and --values were found", "expected one of them", "leave out --values");
    cli_put_kernel("wrong.c", "", "1");
    CLI("check", "softmax", "wrong.c", "rows=3 cols=4", CHECK, "--after", "rows=4 cols=3");
    cli_expect(1, "wrong: ");
    cli_expect_without("process of its own");
    CLI("shrink", "softmax", "wrong.c", "rows=3 cols=4", CHECK, "--after", "rows=4 cols=3");
    cli_expect_error(2, "fails by itself", "expected", "leave out --after");
}
END_TEST

TCase *cli_after_case(void)
{
    TCase *tests = tcase_create("after");
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_loop_test(tests, a_plan_under_a_key_that_two_share_is_found_and_the_call_before_is_named, 0,
                        sizeof kept / sizeof *kept);
    tcase_add_test(tests, a_plan_under_the_whole_key_is_general);
    tcase_add_test(tests, what_does_not_take_two_is_said);
    return tests;
}
