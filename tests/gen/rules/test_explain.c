/* Planted conditions are found again. Runs in the repository root. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "explain_planted.h"
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

/* --- the rule is the condition --- */

/* `rule`: as printed; NULL: any with the same meaning. */
static const struct {
    const char *problem, *condition, *rule;
} found[] = {
    /* paged_attention, whose sets take seconds to draw, comes last: OTHERS */
    {"softmax", "cols % 64 != 0", "cols % 64 != 0"},
    {"softmax", "cols % 128 == 127", "cols % 128 == 127"},
    {"softmax", "cols % 4096 != 0", "cols % 4096 != 0"},
    {"softmax", "cols % 512 != 0", "cols % 512 != 0"},
    {"softmax", "cols % 1024 == 0", "cols % 1024 == 0"},
    {"softmax", "cols > 1037", "cols > 1037"},
    {"softmax", "rows*cols > 474773", "rows*cols > 474773"},
    {"softmax", "cols < 64", "cols < 64"},
    {"softmax", "rows*cols > 1048576", "rows*cols > 2^20"},
    {"softmax", "rows != 32 and rows != 16 and rows != 8 and rows != 4", "rows not in {4, 8, 16, 32}"},
    {"softmax", "cols == 4096", "cols == 4096"},
    {"softmax", "input=special", "input=special"},
    {"softmax", "input!=normal and cols % 32 != 0", "cols % 32 != 0 and input!=normal"},
    {"gemm_f32", "m % 64 != 0 or k % 16 != 0", NULL},
    {"gemm_f32", "trans_b == 1 and k > 100", NULL},
    {"gemm_f32", "k % 8 != 0 and trans_b == 1 or m > 900", NULL},
    {"gemm_w4a16", "k % group != 0", "k % group != 0"},
    {"gemm_w4a16", "(k + 31) / 32 % 2 != 0", NULL},
    {"moe_up", "experts > 64 and routing=zipf", NULL},
    {"moe_up", "most_rows > 100", "most_rows > 100"},
    {"moe_up", "most_rows > 1037", "most_rows > 1037"},
    {"moe_up", "least_rows == 0", "least_rows == 0"},
    {"moe_up", "routing=odd and most_rows % 4 == 3", "routing=odd and most_rows % 4 == 3"},
    {"moe_up", "hidden_dim % 8 != 0 and most_rows > 37", "hidden_dim % 8 != 0 and most_rows >= 38"},
    {"topk", "k > 1024", "k > 1024"},
    {"topk", "rows*n > 179 or n % k != 0", NULL},
    {"kda", "batch*heads > 32", "batch*heads > 32"},
    {"paged_attention", "max_len % page_size != 0", "max_len % page_size != 0"},
    {"paged_attention", "heads / kv_heads > 4", "heads / kv_heads > 4"},
    {"paged_attention", "page_size == 17 or table=shared", NULL},
    {"paged_attention", "shortest > 337", "shortest > 337"},
    {"paged_attention", "shortest % 16 != 0", "shortest % 16 != 0"},
    /* seldom with another seed, too */
    {"paged_attention", "lengths=ragged and shortest % 4 == 3", "lengths=ragged and shortest % 4 == 3"},
};
enum { FOUND = sizeof found / sizeof *found, OTHERS = FOUND - 6 };

/* In the ground that is open. */
static void expect_found(int i)
{
    struct planted planted = plant(&ground, found[i].condition);
    struct rule rule;
    planted.strict = true;
    ck_assert(planted_explain(&planted, PLANTED_RUNS, 3, &rule));
    ck_assert_msg(rule.present, "%s: %s", found[i].condition, rule.reason);
    ck_assert_msg(planted_agreement(&planted, rule.text, 1) > 0.995, "%s: %s", found[i].condition, rule.text);
    if (found[i].rule)
        ck_assert_str_eq(rule.text, found[i].rule);
    ck_assert_msg(planted.outside == 0, "%d runs outside the space or the caps", planted.outside);
    ck_assert_int_le(rule.runs, PLANTED_RUNS);
    ck_assert_int_eq(planted.asked, rule.runs);
    ck_assert_int_eq(rule.fails_inside, rule.inside);
    ck_assert_int_eq(rule.passes_outside, rule.outside);
    ck_assert_int_ge(rule.inside + rule.outside, 40);
    ck_assert(rule.inside >= 8 && rule.outside >= 8);
    ck_assert(rule.precision == 1 && rule.recall == 1);
    planted_clear(&planted);
}

START_TEST(a_planted_condition_is_found_again)
{
    open_ground(found[_i].problem);
    expect_found(_i);
    close_ground();
}
END_TEST

static void open_paged(void)
{
    open_ground("paged_attention");
}

START_TEST(a_condition_planted_in_paged_attention_is_found_again)
{
    ck_assert_str_eq(found[_i].problem, "paged_attention");
    expect_found(_i);
}
END_TEST

START_TEST(runs_on_which_rules_disagree_decide_soon)
{
    open_ground("topk");
    const struct rule rule = explained("rows*n > 179 or n % k != 0", NULL);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_int_le(rule.runs, 120);
    close_ground();
}
END_TEST

START_TEST(a_size_that_is_drawn_is_pinned_down_as_soon)
{
    open_ground("moe_up");
    const struct rule rule = explained("most_rows > 1037", NULL);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "most_rows > 1037");
    ck_assert_int_le(rule.runs, 120);
    close_ground();
}
END_TEST

/* Remembers every question, in order, with its seeds. */
static uint64_t asked_in_order;

static int answer_remembering(struct planted *planted, const struct config *config)
{
    for (int i = 0; config->problem->axes[i].name; i++)
        asked_in_order = asked_in_order * 0x100000001b3u + (uint64_t)config->value[i];
    asked_in_order = asked_in_order * 0x100000001b3u + config->seed;
    return condition_holds(planted->condition, config);
}

START_TEST(the_same_seed_asks_and_explains_alike)
{
    struct rule first, second;
    open_ground("topk");
    first = explained("n % 32 != 0 and k > 8", answer_remembering);
    const uint64_t before = asked_in_order;
    asked_in_order = 0;
    second = explained("n % 32 != 0 and k > 8", answer_remembering);
    ck_assert_mem_eq(&first, &second, sizeof first);
    ck_assert_uint_eq(before, asked_in_order);
    close_ground();
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *const tcase = tcase_create(name);
    tcase_set_timeout(tcase, 3600);
    suite_add_tcase(suite, tcase);
    return tcase;
}

Suite *explain_suite(void)
{
    Suite *suite = suite_create("explain");
    TCase *tcase = add_case(suite, "explain");
    tcase_add_loop_test(tcase, a_planted_condition_is_found_again, 0, OTHERS);
    tcase_add_test(tcase, runs_on_which_rules_disagree_decide_soon);
    tcase_add_test(tcase, a_size_that_is_drawn_is_pinned_down_as_soon);
    tcase_add_test(tcase, the_same_seed_asks_and_explains_alike);
    statement_tests(tcase);
    repeats_tests(tcase);
    one_sided_tests(add_case(suite, "sided"));
    explain_random_tests(add_case(suite, "random"));
    explain_plain_tests(add_case(suite, "plain"));
    explain_bugs_tests(add_case(suite, "bugs"));
    explain_words_tests(add_case(suite, "words"));
    plain_form_tests(add_case(suite, "plain_form"));
    coded_tests(add_case(suite, "coded"));
    tcase = add_case(suite, "paged");
    tcase_add_unchecked_fixture(tcase, open_paged, close_ground);
    tcase_add_loop_test(tcase, a_condition_planted_in_paged_attention_is_found_again, OTHERS, FOUND);
    return suite;
}
