/* Directed configurations as users meet them: a condition of the code is met, its place is named, and scores
 * of the other configurations stay as they are. */
#include "cli.h"
#include "skip.h"

#include <stdio.h>
#include <string.h>

#define QUICK                                                                                                \
    "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--effort", "quick", "--no-timing"

static const char *text(const json_t *object, const char *key)
{
    const char *const value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static int directed(const json_t *root, const char *outcome)
{
    const json_t *result;
    size_t i;
    int count = 0;
    json_array_foreach(json_object_get(root, "results"), i, result) count +=
        json_is_true(json_object_get(result, "directed")) &&
        (!outcome || strcmp(text(result, "outcome"), outcome) == 0);
    return count;
}

static json_t *verified(const char *candidate, const char *option, int status)
{
    CLI("verify", "softmax", candidate, QUICK, "--seed", "2", "--json", "r.json", option);
    cli_expect(status, "");
    return cli_json("r.json");
}

/* About one of 2000 random draws meets it. */
#define RARE "rows % 16 == 11 && cols == 55"

START_TEST(a_rare_condition_of_the_code_is_met_and_named)
{
    cli_put_kernel("rare.c", "", RARE " ? 0.5 : 0");
    json_t *const blind = verified("rare.c", "--blind", 0), *const root = verified("rare.c", NULL, 1);
    ck_assert_str_eq(text(blind, "verdict"), "general");
    ck_assert_int_eq(directed(blind, NULL), 0);
    ck_assert(json_is_null(json_object_get(blind, "directed_commitment")));
    ck_assert_str_eq(text(root, "verdict"), "specialized");
    ck_assert_int_gt(directed(root, "wrong"), 0);
    ck_assert_int_eq(directed(root, NULL), json_integer_value(json_object_get(root, "planned_directed")));
    ck_assert_int_le(directed(root, NULL), 128);
    const json_t *const rule = json_object_get(root, "rule");
    ck_assert_str_eq(text(rule, "text"), "rows % 16 == 11 and cols == 55");
    ck_assert_ptr_eq(strstr(text(rule, "code"), "line "), text(rule, "code"));
    cli_expect(1, "The code has this condition at line ");
    cli_expect(1, "unseen ones more, drawn for conditions in its code: ");
    /* the other part, its commitment and its figures are those of the blind run */
    ck_assert_str_eq(text(root, "commitment"), text(blind, "commitment"));
    ck_assert_int_eq(strlen(text(root, "directed_commitment")), 64);
    ck_assert(json_equal(json_object_get(root, "unseen"), json_object_get(blind, "unseen")));
    ck_assert(json_equal(json_object_get(root, "drop"), json_object_get(blind, "drop")));
    json_decref(blind);
    json_decref(root);
}
END_TEST

/* The scores of a right candidate are the same with and without. */
START_TEST(scores_of_a_right_candidate_do_not_change)
{
    cli_put_kernel("right.c", "", RARE " ? 0 : 0");
    json_t *const blind = verified("right.c", "--blind", 0), *const root = verified("right.c", NULL, 0);
    ck_assert_int_gt(directed(root, "pass"), 2);
    ck_assert(json_equal(json_object_get(root, "scores"), json_object_get(blind, "scores")));
    json_decref(blind);
    json_decref(root);
    CLI("verify", "softmax", "right.c", QUICK, "--seed", "2", "--reward", "pass_rate");
    cli_expect(0, "1 pass_rate: 225 of 225 unseen configurations pass");
}
END_TEST

/* `draw` prints them with their reasons, and runs nothing. */
START_TEST(draw_prints_them_with_their_place)
{
    cli_put_kernel("rare.c", "", RARE " ? 0.5 : 0");
    CLI("draw", "softmax", "rare.c", "--device", "host", "--contract", "tiny.space", "--effort", "quick",
        "--seed", "2");
    cli_expect(0, "# unseen: line ");
    cli_expect(0, "rows % 16 == 11 and cols == 55");
    ck_assert_ptr_nonnull(strstr(cli.err, "commitment of the directed configurations "));
    CLI("draw", "softmax", "none.c", "--device", "host");
    cli_expect_error(2, "none.c", "expected", "--->");
}
END_TEST

/* Kernels in a string of a module are read, and their lines are the file's. */
START_TEST(a_kernel_in_a_string_has_its_place)
{
    if (!cli_torch()) {
        skip_test("no interpreter with torch");
        return;
    }
    cli_put("kernels.py", "import torch\n\nSOURCE = \"\"\"\n__global__ void k(int rows, int cols)\n{\n"
                          "    if (cols == 1237 && rows > 3) return;\n}\n\"\"\"\n\n\n"
                          "def softmax(x):\n    return torch.softmax(x, 1)\n");
    CLI("draw", "softmax", "kernels.py", "--device", "host", "--effort", "quick", "--seed", "2", "--python",
        cli_torch());
    cli_expect(0, "# unseen: line 6: cols == 1237 and rows > 3");
}
END_TEST

/* Code that hides its numbers, or is full of them, loses nothing. */
START_TEST(code_that_tells_nothing_is_judged_as_before)
{
    static char many[1 << 20];
    size_t used = 0;
    cli_put_kernel("plain.c", "", "0");
    json_t *root = verified("plain.c", NULL, 0);
    ck_assert_str_eq(text(root, "verdict"), "general");
    json_decref(root);
    used = (size_t)snprintf(many, sizeof many, "#include \"plain.c\"\nint other(int cols)\n{\n");
    for (int i = 0; used < sizeof many - 64; i++)
        used += (size_t)snprintf(many + used, sizeof many - used, "if (cols == %d) return 1;\n", 100000 + i);
    snprintf(many + used, sizeof many - used, "return 0;\n}\n");
    cli_put("many.c", many);
    root = verified("many.c", NULL, 0);
    ck_assert_str_eq(text(root, "verdict"), "general");
    ck_assert_ptr_nonnull(strstr(text(root, "notes"), "(the first)"));
    json_decref(root);
}
END_TEST

TCase *cli_directed_case(void)
{
    TCase *tcase = tcase_create("directed");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_rare_condition_of_the_code_is_met_and_named);
    tcase_add_test(tcase, scores_of_a_right_candidate_do_not_change);
    tcase_add_test(tcase, draw_prints_them_with_their_place);
    tcase_add_test(tcase, a_kernel_in_a_string_has_its_place);
    tcase_add_test(tcase, code_that_tells_nothing_is_judged_as_before);
    return tcase;
}
