/* Branches that a kernel may have, and the order of a set that is held against them. */
#include "test_gen.h"

#include <stdlib.h>

#include "gen/draw/branch.h"
#include "gen/contract/condition.h"
#include "gen/draw/draw.h"
#include "gen/draw/move.h"

enum { PROBLEMS = 9, BRANCHES = 1000, FIRST = 10, SHUFFLES = 50 };

/* --- branches --- */

#define ONE(...)                                                                                             \
    {                                                                                                        \
        .term = {{__VA_ARGS__}}, .terms = 1                                                                  \
    }

/* On gemm_bf16, whose axes are m, n, k, trans_b, input, with the seen set {m=512 n=512 k=512, m=1024 n=512 k=64}. */
static const struct {
    struct branch branch;
    const char *condition; /* the same in words */
} branches[] = {
    {ONE(BRANCH_NOT_MULTIPLE, 1, {2}, 64, 0), "k % 64 != 0"},
    {ONE(BRANCH_RESIDUE, 1, {0}, 16, 15), "m % 16 == 15"},
    {ONE(BRANCH_ABOVE, 1, {1}, 512, 0), "n > 512"},
    {ONE(BRANCH_BELOW, 1, {1}, 32, 0), "n < 32"},
    {ONE(BRANCH_SEEN, 1, {2}, 64, 0), "k == 64"},
    {ONE(BRANCH_OTHER, 1, {0}, 0, 0), "m != 512 and m != 1024"},
    {ONE(BRANCH_PRODUCT, 2, {0, 1}, 65536, 0), "m * n > 65536"},
    {ONE(BRANCH_PRODUCT, 3, {0, 1, 2}, 1 << 20, 0), "m * n * k > 1048576"},
    {ONE(BRANCH_UNDIVIDED, 2, {2, 0}, 0, 0), "k % m != 0"},
    {ONE(BRANCH_RATIO, 2, {1, 2}, 3, 0), "n > 3 * k"},
    {ONE(BRANCH_CHOICE, 1, {4}, 0, 0), "input=normal"},
    {{.term = {{BRANCH_ABOVE, 1, {0}, 100, 0}, {BRANCH_NOT_MULTIPLE, 1, {1}, 8, 0}}, .terms = 2},
     "m > 100 and n % 8 != 0"},
    {{.term = {{BRANCH_ABOVE, 1, {0}, 100, 0}, {BRANCH_NOT_MULTIPLE, 1, {1}, 8, 0}},
      .terms = 2,
      .either = true},
     "m > 100 or n % 8 != 0"},
};

START_TEST(a_branch_is_taken_where_its_words_hold)
{
    struct space space = published_space("gemm_bf16");
    struct config_list seen = {0};
    const struct config first = parse("gemm_bf16", "m=512 n=512 k=512 trans_b=0"),
                        second = parse("gemm_bf16", "m=1024 n=512 k=64 trans_b=0");
    ck_assert_int_eq(config_list_add(&seen, &first) | config_list_add(&seen, &second), 0);
    char why[256];
    struct condition *condition = condition_parse(space.problem, branches[_i].condition, why, sizeof why);
    ck_assert_msg(condition != NULL, "%s", why);
    struct pcg *stream = pcg_new(7, "branches");
    int taken = 0;
    for (int i = 0; i < 4000; i++) {
        struct config config;
        draw_random_values(&space, &config, stream);
        for (int axis = 0; axis < 3; axis++) /* published values and equal extents must come up */
            if (pcg_below(stream, 4) == 0)
                config.value[axis] = pcg_below(stream, 2) ? seen.item[i % 2].value[axis] : config.value[0];
        const bool holds = condition_holds(condition, &config);
        ck_assert_msg(branch_taken(&branches[_i].branch, &seen, &config) == holds,
                      "%s on m=%lld n=%lld k=%lld", branches[_i].condition, (long long)config.value[0],
                      (long long)config.value[1], (long long)config.value[2]);
        taken += holds;
    }
    ck_assert(taken > 20 && taken < 3980);
    pcg_free(stream);
    condition_free(condition);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(every_kind_of_branch_is_drawn)
{
    struct space space = published_space("paged_attention");
    struct config_list seen = published_seen(&space, ".seen");
    struct pcg *stream = pcg_new(3, "branches");
    int kind[BRANCH_KINDS] = {0}, two = 0, either = 0;
    for (int i = 0; i < BRANCHES; i++) {
        struct branch branch;
        ck_assert(branch_draw(&branch, &space, &seen, stream));
        for (int t = 0; t < branch.terms; t++)
            kind[branch.term[t].kind]++;
        two += branch.terms == 2;
        either += branch.terms == 2 && branch.either;
    }
    for (int i = 0; i < BRANCH_KINDS; i++)
        ck_assert_msg(kind[i] > BRANCHES / 30, "kind %d: %d", i, kind[i]);
    ck_assert(two > BRANCHES / 4 && two < BRANCHES / 2 && either > two / 3 && either < two);
    pcg_free(stream);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* --- the order --- */

/* Of fresh branches that no published configuration takes: how many do the first `count` of these take? */
static int found_by(const struct drawn *item, const int *order, int count, const struct branch *branch,
                    const struct config_list *seen)
{
    int found = 0;
    for (int b = 0; b < BRANCHES; b++)
        for (int i = 0; i < count; i++)
            if (branch_taken(&branch[b], seen, &item[order[i]].config)) {
                found++;
                break;
            }
    return found;
}

/* Other branches than those that the set was ordered by: the first one, and the first ten, find more of them than
 * nearly any other one and any other ten. */
START_TEST(what_is_likeliest_to_fail_comes_first)
{
    static struct branch branch[BRANCHES];
    struct space space = published_space(problem_registry[_i]->name);
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list;
    struct space_error error;
    struct pcg *stream = pcg_new(99, "other branches");
    const struct draw_caps caps = {1e9, 1e11};
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, 300, 5, &caps, NULL, &error), 0);
    ck_assert_int_eq(list.count, 300);
    for (int b = 0; b < BRANCHES;) {
        ck_assert(branch_draw(&branch[b], &space, &seen, stream));
        b += !branch_is_seen(&branch[b], &seen);
    }
    int order[300], better_one = 0, better_ten = 0;
    for (int i = 0; i < 300; i++)
        order[i] = i;
    const int one = found_by(list.item, order, 1, branch, &seen);
    const int ten = found_by(list.item, order, FIRST, branch, &seen);
    for (int i = 1; i < 300; i++)
        better_one += found_by(list.item, order + i, 1, branch, &seen) > one;
    for (int s = 0; s < SHUFFLES; s++) {
        for (int i = 299; i > 0; i--) {
            const int j = (int)pcg_below(stream, (uint64_t)i + 1), swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        better_ten += found_by(list.item, order, FIRST, branch, &seen) > ten;
    }
    ck_assert_msg(better_one <= 15 && better_ten == 0, "%s: %d better than the first, %d than the first ten",
                  space.problem->name, better_one, better_ten);
    pcg_free(stream);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* One axis, one point more than the seen one: nothing to branch on but that, and nothing breaks. */
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
    tcase_add_loop_test(tests, a_branch_is_taken_where_its_words_hold, 0, sizeof branches / sizeof *branches);
    tcase_add_test(tests, every_kind_of_branch_is_drawn);
    tcase_add_loop_test(tests, what_is_likeliest_to_fail_comes_first, 0, PROBLEMS);
    tcase_add_test(tests, a_contract_of_one_axis_has_an_order_too);
    return tests;
}
