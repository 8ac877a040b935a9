/* Conditions of a candidate's code become cheap predicates, and rules name where they stand. Runs in the
 * repository root. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "explain_planted.h"
#include "gen/predicates/predicate.h"
#include "suites.h"

/* A condition in the code, and the predicate that it becomes. */
static const struct {
    const char *problem, *condition, *text;
} coded[] = {
    {"softmax", "cols > 777", "cols > 777"},
    {"softmax", "cols >= 777", "cols > 776"},
    {"softmax", "1000 < cols", "cols > 1000"},
    {"softmax", "cols == 1237", "cols == 1237"},
    {"softmax", "cols - 1 > 32767", "cols > 32768"},
    {"softmax", "(cols + 63) / 64 - 2 >= 3", "(cols + 63) / 64 > 4"},
    {"softmax", "cols % 24 == 5", "cols % 24 == 5"},
    {"softmax", "cols % 24 > 5", "cols % 24 >= 6"},
    {"softmax", "(cols - 1) / 32 + 1 > 9", "(cols + 31) / 32 >= 10"},
    {"softmax", "rows * cols > 100000", "rows*cols > 100000"},
    {"softmax", "rows > cols", "rows > cols"},
    {"gemm_bf16", "k >= 3 * m", "k / m > 2"},
    {"gemm_w4a16", "group < k", "k > group"},
    {"conv2d_f32", "(w + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1 == w", "ow == w"},
    {"conv2d_f32", "c == groups", "(c_per_group - 1) * groups == 0"},
    {"paged_attention", "heads != kv_heads * kv_heads", "heads - (kv_heads * kv_heads) == 0"},
    {"paged_attention", "max_len * page_size / 3 > 4096", "max_len * page_size / 3 > 4096"},
};

START_TEST(conditions_of_code_become_predicates)
{
    struct vocabulary *const vocabulary = calloc(1, sizeof *vocabulary);
    struct pcg *const stream = pcg_new(1, "test");
    struct clue_list clues = {0};
    struct ground ground;
    char text[240], place[80];
    ck_assert(vocabulary && stream);
    ground_open(&ground, coded[_i].problem, 1, 4, 0, 4);
    vocabulary_open(vocabulary, &ground.space, &ground.seen);
    planted_clues(&clues, coded[_i].condition);
    ck_assert_int_eq(clues.count, 1);
    ck_assert_int_eq(vocabulary_code(vocabulary, &clues, stream), 0);
    ck_assert_int_ge(vocabulary->codeds, 1);
    bool found = false;
    for (int i = 0; i < vocabulary->codeds; i++) {
        const struct predicate *const predicate = &vocabulary->coded[i].predicate;
        const struct hypothesis rule = {.term = {*predicate}, .starts = {true}, .count = 1};
        const struct quantity *const quantity = &vocabulary->quantity[predicate->quantity];
        ck_assert(hypothesis_format(vocabulary, &rule, text, sizeof text));
        found = found || strcmp(text, coded[_i].text) == 0;
        ck_assert_double_le(vocabulary_cost(vocabulary, predicate), 1 + quantity->cost);
        code_text(vocabulary, &rule, place, sizeof place);
        ck_assert_str_eq(place, "line 7");
    }
    ck_assert_msg(found, "%s: %s", coded[_i].condition, text);
    vocabulary_uncode(vocabulary);
    clue_list_clear(&clues);
    pcg_free(stream);
    free(vocabulary);
    ground_close(&ground);
}
END_TEST

/* The runs leave thresholds from 769 to 1000 open: the code's comes before the roundest. */
START_TEST(a_threshold_of_the_code_comes_before_a_round_one)
{
    struct vocabulary *const vocabulary = calloc(1, sizeof *vocabulary);
    struct pcg *const stream = pcg_new(1, "test");
    struct clue_list clues = {0};
    struct ground ground;
    int cols = 0;
    ck_assert(vocabulary && stream);
    ground_open(&ground, "softmax", 1, 4, 0, 4);
    vocabulary_open(vocabulary, &ground.space, &ground.seen);
    while (!quantity_is_axis(&vocabulary->quantity[cols]) || vocabulary->quantity[cols].axis[0] != 1)
        cols++;
    ck_assert_int_eq(vocabulary_threshold(vocabulary, cols, 769, 1000), 896);
    planted_clues(&clues, "cols > 777");
    ck_assert_int_eq(vocabulary_code(vocabulary, &clues, stream), 0);
    ck_assert_int_eq(vocabulary_threshold(vocabulary, cols, 769, 1000), 777);
    ck_assert_int_eq(vocabulary_threshold(vocabulary, cols, 800, 1000), 896);
    vocabulary_uncode(vocabulary);
    clue_list_clear(&clues);
    pcg_free(stream);
    free(vocabulary);
    ground_close(&ground);
}
END_TEST

/* Rules that no quantity of a contract can state are found where the code states them. */
START_TEST(rules_are_those_of_the_code)
{
    static const struct {
        const char *problem, *condition;
    } planted_in[] = {{"paged_attention", "heads != kv_heads * kv_heads"},
                      {"softmax", "cols > 777"},
                      {"gemm_bf16", "(m + n) % 48 > 20 and k > 37"}};
    struct ground ground;
    struct clue_list clues = {0};
    struct rule rule = {.present = false};
    ground_open(&ground, planted_in[_i].problem, 2, 35, DRAW_SCOUTS, 400);
    struct planted planted = plant(&ground, planted_in[_i].condition);
    planted_clues(&clues, planted_in[_i].condition);
    planted.clues = &clues;
    ck_assert(planted_explain(&planted, 80, 2, &rule));
    ck_assert_msg(rule.present && rule.kind == RULE_TWO_SIDED, "%s: %s", rule.text, rule.reason);
    ck_assert_msg(planted_agreement(&planted, rule.text, 2) >= 0.995, "%s", rule.text);
    ck_assert_str_eq(rule.code, "line 7");
    planted_clear(&planted);
    clue_list_clear(&clues);
    ground_close(&ground);
}
END_TEST

void coded_tests(TCase *tcase)
{
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, conditions_of_code_become_predicates, 0, sizeof coded / sizeof *coded);
    tcase_add_test(tcase, a_threshold_of_the_code_comes_before_a_round_one);
    tcase_add_loop_test(tcase, rules_are_those_of_the_code, 0, 3);
}
