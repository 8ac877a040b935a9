/* Directed configurations meet the conditions of clues: both together, at their boundaries, by guessed names,
 * beside sets that are the same without them. */
#include "gen_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/condition.h"
#include "gen/contract/instantiate.h"
#include "gen/draw/draw.h"

enum { QUICK = 35, DIRECTED = 64 };

static const struct draw_caps caps = {128e6, 5e7};

/* Adds a clue of triples subject, relation, bound; "" ends them. */
static void add_clue(struct clue_list *list, int line, ...)
{
    struct clue clue = {.line = line};
    va_list arguments;
    va_start(arguments, line);
    for (const char *word; *(word = va_arg(arguments, const char *)); clue.terms++) {
        struct clue_term *const term = &clue.term[clue.terms];
        const char *const relation = va_arg(arguments, const char *);
        snprintf(term->subject, sizeof term->subject, "%s", word);
        snprintf(term->bound, sizeof term->bound, "%s", va_arg(arguments, const char *));
        while (strcmp(clue_relation_text(term->relation), relation) != 0)
            term->relation++;
    }
    va_end(arguments);
    ck_assert_int_eq(clue_list_add(list, &clue), 0);
}

static struct drawn_list direct(const char *problem, const struct clue_list *clues, uint64_t seed)
{
    struct space space = published_space(problem);
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list = {0};
    ck_assert_int_eq(draw_directed(&list, clues, &space, &seen, DIRECTED, seed, &caps), 0);
    for (int i = 0; i < list.count; i++) {
        ck_assert(list.item[i].directed);
        ck_assert(space_contains(&space, &list.item[i].config, NULL));
        for (int j = 0; j < seen.count; j++)
            ck_assert(!config_same_point(&seen.item[j], &list.item[i].config));
        for (int j = 0; j < i; j++)
            ck_assert(!config_same_point(&list.item[j].config, &list.item[i].config));
    }
    config_list_clear(&seen);
    space_clear(&space);
    return list;
}

/* The number of configurations on which the condition holds. */
static int holding(const struct drawn_list *list, const char *problem, const char *text)
{
    char why[200] = "";
    const struct problem *const p = problem_find(problem);
    struct condition *const condition = condition_parse(p, text, why, sizeof why);
    int count = 0;
    ck_assert_msg(condition != NULL, "%s", why);
    for (int i = 0; i < list->count; i++)
        count += condition_holds(condition, &list->item[i].config);
    condition_free(condition);
    return count;
}

/* Conditions that random draws hardly ever meet. */
static const struct {
    const char *problem;
    const char *term[4][3];
    const char *condition;
    int least;
} rare[] = {
    {"conv2d_f32", {{"pad_w", "==", "12"}, {"stride_w", "==", "1"}}, "pad_w == 12 and stride_w == 1", 3},
    {"gemm_bf16",
     {{"m * n", ">=", "1024"}, {"k", ">=", "320"}, {"k", ">=", "3 * m"}, {"k", ">=", "3 * n"}},
     "m * n >= 1024 and k >= 320 and k >= 3 * m and k >= 3 * n",
     3},
    {"gemm_bf16", {{"k % 64", "==", "32"}, {"m", "==", "1"}}, "k % 64 == 32 and m == 1", 3},
    {"softmax",
     {{"(rows * cols + 7) / 8 % 13", "==", "5"}, {"cols", ">", "640"}},
     "(rows * cols + 7) / 8 % 13 == 5 and cols > 640",
     3},
    {"conv2d_f32", {{"ow", "==", "w"}, {"kw", ">", "3"}}, "ow == w and kw > 3", 3},
    {"paged_attention", {{"page_size", "==", "17"}}, "page_size == 17", 1},
    /* COLS and numRows are names of axes, spelled otherwise */
    {"softmax", {{"COLS", "==", "1237"}, {"numRows", "==", "3"}}, "cols == 1237 and rows == 3", 2},
    {"rope_cache", {{"tokens", ">", "65535"}}, "tokens > 65535", 1},
};

START_TEST(rare_conditions_hold_on_some_draws)
{
    struct clue_list clues = {0};
    struct clue clue = {.line = 88};
    for (; clue.terms < 4 && rare[_i].term[clue.terms][0]; clue.terms++) {
        struct clue_term *const term = &clue.term[clue.terms];
        snprintf(term->subject, sizeof term->subject, "%s", rare[_i].term[clue.terms][0]);
        snprintf(term->bound, sizeof term->bound, "%s", rare[_i].term[clue.terms][2]);
        while (strcmp(clue_relation_text(term->relation), rare[_i].term[clue.terms][1]) != 0)
            term->relation++;
    }
    ck_assert_int_eq(clue_list_add(&clues, &clue), 0);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct drawn_list list = direct(rare[_i].problem, &clues, seed);
        const int holds = holding(&list, rare[_i].problem, rare[_i].condition);
        ck_assert_msg(holds >= rare[_i].least, "%s: %d of %d", rare[_i].condition, holds, list.count);
        ck_assert_ptr_nonnull(strstr(list.item[0].why, "line 88: "));
        drawn_list_clear(&list);
    }
    clue_list_clear(&clues);
}
END_TEST

/* A threshold is met from below, exactly, and from above; a tile by its tails. */
START_TEST(boundaries_and_tiles_are_met)
{
    static const char *const met[] = {"cols == 776",     "cols == 777", "cols == 778", "cols % 48 == 1",
                                      "cols % 48 == 47", "cols == 48",  "cols == 49"};
    struct clue_list clues = {0};
    add_clue(&clues, 1, "cols", ">", "777", "");
    add_clue(&clues, 2, "cols", "tile", "48", "");
    struct drawn_list list = direct("softmax", &clues, 5);
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        ck_assert_msg(holding(&list, "softmax", met[i]) > 0, "%s", met[i]);
    drawn_list_clear(&list);
    clue_list_clear(&clues);
}
END_TEST

/* A name that stands for no axis becomes each axis; two names become different ones. */
START_TEST(unknown_names_become_every_axis)
{
    struct clue_list one = {0}, two = {0};
    add_clue(&one, 1, "a % 96", "==", "7", "");
    struct drawn_list list = direct("gemm_bf16", &one, 2);
    ck_assert_int_gt(holding(&list, "gemm_bf16", "m % 96 == 7"), 0);
    ck_assert_int_gt(holding(&list, "gemm_bf16", "n % 96 == 7"), 0);
    ck_assert_int_gt(holding(&list, "gemm_bf16", "k % 96 == 7"), 0);
    drawn_list_clear(&list);
    add_clue(&two, 1, "a", "==", "23", "b % 64", "==", "32", "");
    list = direct("gemm_bf16", &two, 2);
    ck_assert_int_gt(holding(&list, "gemm_bf16", "m == 23 and k % 64 == 32"), 0);
    ck_assert_int_gt(holding(&list, "gemm_bf16", "k == 23 and n % 64 == 32"), 0);
    drawn_list_clear(&list);
    clue_list_clear(&one);
    clue_list_clear(&two);
}
END_TEST

/* Impossible conditions, expressions that do not parse, and thousands of clues: nothing is drawn in vain for
 * long, and nothing fails. */
START_TEST(hostile_clues_end_soon)
{
    struct clue_list clues = {0};
    add_clue(&clues, 1, "cols", "==", "-5", "");
    add_clue(&clues, 2, "cols % 0", "==", "1", "");
    add_clue(&clues, 3, "((((cols", "==", "1", "");
    add_clue(&clues, 4, "cols", "<", "cols", "");
    add_clue(&clues, 5, "9223372036854775807 * cols", "==", "9223372036854775807 + rows", "");
    add_clue(&clues, 6, "", "==", "", "cols", "==", "1", "");
    for (int i = 0; i < 4 * CLUE_MOST; i++) {
        char number[32];
        snprintf(number, sizeof number, "%d", i * 37);
        add_clue(&clues, i, "x", "==", number, "");
    }
    ck_assert_int_eq(clues.count, CLUE_MOST);
    ck_assert(clues.truncated);
    struct drawn_list list = direct("softmax", &clues, 1);
    ck_assert_int_ge(list.count, DIRECTED / 3); /* guesses get no more */
    drawn_list_clear(&list);
    clue_list_clear(&clues);
}
END_TEST

/* Conditions that the other draws meet often get none, and an empty list costs nothing. */
START_TEST(what_others_meet_is_not_drawn_again)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen");
    struct clue_list clues = {0};
    struct drawn_list list;
    char with[65], without[65];
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, QUICK, 1, &caps, NULL, NULL), 0);
    ck_assert_int_eq(drawn_commitment(&list, false, without), 0);
    ck_assert_int_eq(draw_directed(&list, &clues, &space, &seen, DIRECTED, 1, &caps), 0);
    ck_assert_int_eq(list.count, QUICK);
    add_clue(&clues, 1, "cols", ">", "1", "");
    ck_assert_int_eq(draw_directed(&list, &clues, &space, &seen, DIRECTED, 1, &caps), 0);
    ck_assert_int_le(list.count, QUICK + 8); /* two for the condition, and for its boundary */
    add_clue(&clues, 1, "cols", "==", "1999", "");
    ck_assert_int_eq(draw_directed(&list, &clues, &space, &seen, DIRECTED, 1, &caps), 0);
    ck_assert_int_eq(drawn_directed(&list), list.count - QUICK);
    ck_assert_int_gt(drawn_directed(&list), 2);
    ck_assert_int_eq(drawn_commitment(&list, false, with), 0);
    ck_assert_str_eq(with, without); /* the blind part is the same for every candidate */
    ck_assert_int_eq(drawn_commitment(&list, true, with), 0);
    ck_assert_str_ne(with, without);
    drawn_list_clear(&list);
    clue_list_clear(&clues);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(the_same_seed_and_clues_draw_the_same)
{
    struct clue_list clues = {0};
    add_clue(&clues, 1, "cols % 24", "==", "5", "rows", ">", "100", "");
    struct drawn_list a = direct("softmax", &clues, 7), b = direct("softmax", &clues, 7),
                      c = direct("softmax", &clues, 8);
    int same = 0;
    ck_assert_int_eq(a.count, b.count);
    for (int i = 0; i < a.count; i++) {
        ck_assert(config_equal(&a.item[i].config, &b.item[i].config));
        same += i < c.count && config_equal(&a.item[i].config, &c.item[i].config);
    }
    ck_assert_int_lt(same, a.count);
    drawn_list_clear(&a), drawn_list_clear(&b), drawn_list_clear(&c);
    clue_list_clear(&clues);
}
END_TEST

TCase *gen_directed_case(void)
{
    TCase *tcase = tcase_create("directed");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, rare_conditions_hold_on_some_draws, 0, (int)(sizeof rare / sizeof *rare));
    tcase_add_test(tcase, boundaries_and_tiles_are_met);
    tcase_add_test(tcase, unknown_names_become_every_axis);
    tcase_add_test(tcase, hostile_clues_end_soon);
    tcase_add_test(tcase, what_others_meet_is_not_drawn_again);
    tcase_add_test(tcase, the_same_seed_and_clues_draw_the_same);
    return tcase;
}
