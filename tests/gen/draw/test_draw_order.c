/* Branches that a kernel may have, as a test of a set's order. */
#include "gen_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "gen/draw/branch.h"
#include "gen/contract/condition.h"
#include "gen/draw/draw.h"
#include "gen/draw/move.h"

enum { PROBLEMS = 9, BRANCHES = 1000, FIRST = 10, SHUFFLES = 50 };

/* --- branches --- */

static struct condition *condition_of(const struct space *space, const struct branch *branch)
{
    char why[256];
    struct condition *condition = condition_parse(space->problem, branch->text, why, sizeof why);
    ck_assert_msg(condition != NULL, "'%s': %s", branch->text, why);
    return condition;
}

static int ends_with_brace(const char *text)
{
    return text[strlen(text) - 1] == '}';
}

START_TEST(every_kind_of_branch_is_drawn_and_is_a_condition)
{
    struct space space = published_space("paged_attention");
    struct config_list seen = published_seen(&space, ".seen");
    struct pcg *stream = pcg_new(3, "branches");
    int kind[BRANCH_KINDS] = {0}, two = 0, either = 0;
    for (int i = 0; i < BRANCHES; i++) {
        struct branch branch;
        ck_assert(branch_draw(&branch, &space, &seen, stream));
        condition_free(condition_of(&space, &branch));
        for (int t = 0; t < branch.terms; t++)
            kind[branch.kind[t]]++;
        two += branch.terms == 2;
        either += strstr(branch.text, " or ") != NULL;
        ck_assert_int_eq(branch.terms == 2, strstr(branch.text, " or ") || strstr(branch.text, " and "));
    }
    for (int i = 0; i < BRANCH_KINDS; i++)
        ck_assert_msg(kind[i] > BRANCHES / 30, "kind %d: %d", i, kind[i]);
    ck_assert(two > BRANCHES / 4 && two < BRANCHES / 2 && either > two / 3 && either < two);
    pcg_free(stream);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* "k not in {64, 512}": wherever k is no published value, and nowhere else. Such a branch is never seen. */
START_TEST(a_table_of_published_values_knows_them_all)
{
    struct space space = published_space("gemm_bf16");
    struct config_list seen = {0};
    struct pcg *stream = pcg_new(7, "branches");
    int tables = 0, taken = 0;
    for (int i = 0; i < 60; i++) { /* 30 different ones */
        struct config config = parse("gemm_bf16", "m=512 n=512 k=512 trans_b=0");
        config.value[2] = 8 * (1 + i % 30);
        ck_assert_int_eq(config_list_add(&seen, &config), 0);
    }
    for (int i = 0; i < BRANCHES; i++) {
        struct branch branch;
        ck_assert(branch_draw(&branch, &space, &seen, stream));
        if (branch.terms != 1 || branch.kind[0] != BRANCH_OTHER || branch.text[0] != 'k')
            continue;
        struct condition *condition = condition_of(&space, &branch);
        ck_assert_msg(ends_with_brace(branch.text), "%s", branch.text);
        ck_assert(!branch_is_seen(condition, &seen));
        for (int64_t k = 1; k < 300; k++) {
            struct config config = seen.item[0];
            config.value[2] = k;
            ck_assert_int_eq(condition_holds(condition, &config), !config_list_has(&seen, 2, k));
            taken += condition_holds(condition, &config);
        }
        condition_free(condition);
        tables++;
    }
    ck_assert_int_ge(tables, 5);
    ck_assert_int_gt(taken, 0);
    pcg_free(stream);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* --- the order --- */

/* Fresh branches that no published configuration takes: how many do the first `count` of these take? */
static int found_by(const struct drawn *item, const int *order, int count, struct condition *const *branch)
{
    int found = 0;
    for (int b = 0; b < BRANCHES; b++)
        for (int i = 0; i < count; i++)
            if (condition_holds(branch[b], &item[order[i]].config)) {
                found++;
                break;
            }
    return found;
}

/* Other branches than those that ordered the set. The first one, and the first ten, find more of them than
 * nearly any other one and any other ten. */
START_TEST(what_is_likeliest_to_fail_comes_first)
{
    static struct condition *branch[BRANCHES];
    struct space space = published_space(problem_registry[_i]->name);
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list;
    struct space_error error;
    struct pcg *stream = pcg_new(99, "other branches");
    const struct draw_caps caps = {1e9, 1e11};
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, 300, 5, &caps, NULL, &error), 0);
    ck_assert_int_eq(list.count, 300);
    for (int b = 0; b < BRANCHES;) {
        struct branch drawn;
        ck_assert(branch_draw(&drawn, &space, &seen, stream));
        branch[b] = condition_of(&space, &drawn);
        if (branch_is_seen(branch[b], &seen))
            condition_free(branch[b]);
        else
            b++;
    }
    int order[300], better_one = 0, better_ten = 0;
    for (int i = 0; i < 300; i++)
        order[i] = i;
    const int one = found_by(list.item, order, 1, branch);
    const int ten = found_by(list.item, order, FIRST, branch);
    for (int i = 1; i < 300; i++)
        better_one += found_by(list.item, order + i, 1, branch) > one;
    for (int s = 0; s < SHUFFLES; s++) {
        for (int i = 299; i > 0; i--) {
            const int j = (int)pcg_below(stream, (uint64_t)i + 1), swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        better_ten += found_by(list.item, order, FIRST, branch) > ten;
    }
    ck_assert_msg(better_one <= 15 && better_ten == 0, "%s: %d better than the first, %d than the first ten",
                  space.problem->name, better_one, better_ten);
    for (int b = 0; b < BRANCHES; b++)
        condition_free(branch[b]);
    pcg_free(stream);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* One axis, one point more than the seen one: nothing else to branch on, and nothing breaks. */
START_TEST(a_contract_of_one_axis_has_an_order_too)
{
    struct space space = good_space("softmax", "rows 1\ncols 5..6\ninput normal\n");
    struct config_list seen = {0};
    const struct config only = parse("softmax", "rows=1 cols=5");
    struct drawn_list list;
    struct space_error error;
    ck_assert_int_eq(config_list_add(&seen, &only), 0);
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, 3, 5, NULL, NULL, &error), 0);
    ck_assert_int_eq(list.count, 3);
    for (int i = 0; i < list.count; i++)
        ck_assert_int_eq(list.item[i].config.value[1], 6);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

TCase *gen_order_case(void)
{
    TCase *tests = tcase_create("order");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_kind_of_branch_is_drawn_and_is_a_condition);
    tcase_add_test(tests, a_table_of_published_values_knows_them_all);
    tcase_add_loop_test(tests, what_is_likeliest_to_fail_comes_first, 0, PROBLEMS);
    tcase_add_test(tests, a_contract_of_one_axis_has_an_order_too);
    return tests;
}
