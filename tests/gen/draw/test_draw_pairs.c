/* Pairs of choices and list values: quick draws every possible one, and pairs that are called impossible
 * are. */
#include "gen_fixture.h"

#include <stdio.h>
#include <string.h>

#include "gen/contract/constraint.h"
#include "gen/draw/draw.h"
#include "gen/draw/feasible.h"

enum { QUICK = 35, SCOUTS = 190 };

static const char *const problems[] = {
    "softmax",    "layer_norm",      "rms_norm",   "cross_entropy", "gemm_bf16", "gemm_f32",
    "gemm_fp8",   "gemm_w4a16",      "moe_up",     "topk",          "kda",       "attention",
    "rope_cache", "paged_attention", "conv2d_f32", "conv2d_bf16"};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static struct drawn_list draw(const struct space *space, const struct config_list *seen, uint64_t seed)
{
    struct drawn_list list;
    const struct draw_caps caps = {128e6, 5e7};
    ck_assert_int_eq(draw_unseen(&list, space, seen, NULL, QUICK, seed, &caps, NULL, NULL), 0);
    ck_assert_int_eq(draw_scouts(&list, space, seen, SCOUTS, seed, &caps), 0);
    return list;
}

/* The number of configurations with both. */
static int met(const struct drawn_list *list, int a, int64_t x, int b, int64_t y)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->item[i].config.value[a] == x && list->item[i].config.value[b] == y;
    return count;
}

/* An independent count of pairs that no configuration has. */
static int64_t count_missing(const struct space *space, const struct drawn_list *list, int64_t *pairs)
{
    int64_t missing = 0;
    *pairs = 0;
    for (int a = 0; space->problem->axes[a].name; a++)
        for (int b = a + 1; space->problem->axes[b].name; b++) {
            const struct domain *const x = &space->domain[a], *const y = &space->domain[b];
            if (x->value_count < 2 || y->value_count < 2)
                continue;
            for (int i = 0; i < x->value_count; i++)
                for (int j = 0; j < y->value_count; j++) {
                    missing += met(list, a, x->value[i], b, y->value[j]) == 0;
                    ++*pairs;
                }
        }
    return missing;
}

START_TEST(quick_has_every_pair_of_listed_values_that_can_be)
{
    struct space space = published_space(problems[_i]);
    struct config_list seen = published_seen(&space, ".seen");
    const struct draw_caps caps = {128e6, 5e7};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct drawn_list list = draw(&space, &seen, seed);
        struct lists_coverage lists;
        int64_t pairs;
        const int64_t missing = count_missing(&space, &list, &pairs);
        ck_assert_int_eq(draw_lists_covered(&list, &space, &seen, &caps, &lists), 0);
        ck_assert_int_eq(lists.pairs.covered, pairs - missing);
        ck_assert_int_eq(lists.pairs.covered, lists.pairs.possible);
        ck_assert_int_eq(lists.pairs.possible + lists.pairs.caps + lists.pairs.contract, pairs);
        ck_assert_int_le(missing, 4);
        ck_assert_int_ge(lists.classes.covered * 100, lists.classes.possible * 80);
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* 12 columns of padding and a step of 1, which random draws hardly ever have together, since shrinking takes
 * the greatest axis first. */
START_TEST(two_rare_values_come_together_more_than_once)
{
    struct space space = published_space("conv2d_f32");
    struct config_list seen = published_seen(&space, ".seen");
    const int stride = problem_axis_index(space.problem, "stride_w"),
              pad = problem_axis_index(space.problem, "pad_w");
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct drawn_list list = draw(&space, &seen, seed);
        ck_assert_int_ge(met(&list, stride, 1, pad, 12), 2);
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* Does a configuration have a square window of that value, one input channel to a group, and more outputs
 * than one? */
static bool has_window(const struct drawn_list *list, const struct space *space, int64_t value)
{
    const int kh = problem_axis_index(space->problem, "kh"), kw = problem_axis_index(space->problem, "kw"),
              c = problem_axis_index(space->problem, "c_per_group"),
              o = problem_axis_index(space->problem, "o_per_group");
    for (int i = 0; i < list->count; i++) {
        const int64_t *const of = list->item[i].config.value;
        if (of[kh] == value && of[kw] == value && of[c] == 1 && of[o] > 1)
            return true;
    }
    return false;
}

/* In how many of 8 sets times the windows of 2, 3, 5 and 7 on a side. */
static int count_windows(const char *problem)
{
    struct space space = published_space(problem);
    struct config_list seen = published_seen(&space, ".seen");
    int windows = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct drawn_list list = draw(&space, &seen, seed);
        for (int64_t value = 2; value <= 7; value += value == 2 ? 1 : 2)
            windows += has_window(&list, &space, value);
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
    return windows;
}

/* Kernels have fast paths for square windows, and further ones for such windows with one channel. With both
 * sides drawn apart, and all pairs of listed values twice before anything else, 33 of 64 were met; 44 are. */
START_TEST(square_windows_meet_one_channel)
{
    ck_assert_int_ge(count_windows("conv2d_f32") + count_windows("conv2d_bf16"), 39);
}
END_TEST

/* Two lists that a limit couples: an excluded pair has no valid point in the box, and each point is tried. */
static const char *const coupled[] = {
    "m 1..40 tile 16\nn 1 2 3 5 8 13\nk 1 2 4 7 9 30\ntrans_b 0 1\ninput normal\nlimit n*k <= 60\nlimit k % "
    "n == 0\n",
    "m 1..40 tile 16\nn 1 2 3 5 8 13\nk 1 2 4 7 9 30\ntrans_b 0 1\ninput normal\nlimit m*n == 40\nlimit k + "
    "m <= 30\n",
    "m 3..9\nn 1 2 3 5 8 13\nk 1 2 4 7 9 30\ntrans_b 0 1\ninput normal\nlimit (n + k) % m == 2\n",
    "m 1..40\nn 1 2 3 5 8 13\nk 1 2 4 7 9 30\ntrans_b 0 1\ninput normal\nlimit m^2 - n*k == 4\n",
    "m 1..40\nn 1 2 3 5 8 13\nk 1 2 4 7 9 30\ntrans_b 0 1\ninput normal\nlimit m / n != k\nlimit -m > -k\n"};

static bool exists(const struct space *space, int64_t n, int64_t k)
{
    struct config config = {.problem = space->problem};
    config.value[1] = n;
    config.value[2] = k;
    for (config.value[0] = space->domain[0].low; config.value[0] <= space->domain[0].high; config.value[0]++)
        if (space_contains(space, &config, NULL))
            return true;
    return false;
}

START_TEST(the_search_finds_what_there_is_and_proves_what_there_is_not)
{
    struct space space = good_space("gemm_f32", coupled[_i]);
    int found = 0, proved = 0;
    for (int i = 0; i < space.domain[1].value_count; i++)
        for (int j = 0; j < space.domain[2].value_count; j++) {
            const int64_t n = space.domain[1].value[i], k = space.domain[2].value[j];
            int64_t low[PROBLEM_MAX_AXES] = {space.domain[0].low, n, k},
                    high[PROBLEM_MAX_AXES] = {space.domain[0].high, n, k};
            struct config config = {.problem = space.problem};
            const enum feasibility answer = feasible_find(&space, low, high, &config);
            ck_assert_int_eq(answer, exists(&space, n, k) ? FEASIBLE : INFEASIBLE);
            if (answer == FEASIBLE)
                ck_assert(space_contains(&space, &config, NULL) && config.value[1] == n &&
                          config.value[2] == k);
            found += answer == FEASIBLE;
            proved += answer == INFEASIBLE;
        }
    ck_assert_int_gt(found, 0);
    ck_assert_int_gt(proved, 0);
    space_clear(&space);
}
END_TEST

START_TEST(pairs_that_a_limit_forbids_are_counted_as_such)
{
    struct space space = good_space("gemm_f32", coupled[0]);
    struct config_list seen = {0};
    struct drawn_list list = draw(&space, &seen, 3);
    struct lists_coverage lists;
    bool any_n[SPACE_MAX_VALUES] = {false}, any_k[SPACE_MAX_VALUES] = {false};
    int forbidden = 0;
    for (int i = 0; i < space.domain[1].value_count; i++)
        for (int j = 0; j < space.domain[2].value_count; j++) {
            const bool is = exists(&space, space.domain[1].value[i], space.domain[2].value[j]);
            forbidden += !is;
            any_n[i] = any_n[i] || is;
            any_k[j] = any_k[j] || is;
        }
    for (int i = 0; i < space.domain[1].value_count; i++)
        forbidden += any_n[i] ? 0 : 2; /* it is in no pair with either trans_b */
    for (int j = 0; j < space.domain[2].value_count; j++)
        forbidden += any_k[j] ? 0 : 2;
    ck_assert_int_eq(draw_lists_covered(&list, &space, &seen, NULL, &lists), 0);
    ck_assert_int_gt(forbidden, 10);
    ck_assert_int_eq(lists.pairs.contract, forbidden);
    ck_assert_int_eq(lists.pairs.covered, lists.pairs.possible);
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

TCase *gen_pairs_case(void)
{
    TCase *tcase = tcase_create("pairs");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, quick_has_every_pair_of_listed_values_that_can_be, 0, PROBLEMS);
    tcase_add_test(tcase, two_rare_values_come_together_more_than_once);
    tcase_add_test(tcase, square_windows_meet_one_channel);
    tcase_add_loop_test(tcase, the_search_finds_what_there_is_and_proves_what_there_is_not, 0,
                        sizeof coupled / sizeof *coupled);
    tcase_add_test(tcase, pairs_that_a_limit_forbids_are_counted_as_such);
    return tcase;
}
