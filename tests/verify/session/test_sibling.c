/* Siblings: each kind shares the property in its name. Over a quick set each kind that a contract has comes
 * several times. */
#include <check.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/draw/draw.h"
#include "suites.h"
#include "gen_fixture.h"
#include "verify/session/sibling.h"

enum { SCOUTS = 190, SEVERAL = 5 };

static struct space space;
static struct config_list seen;
static struct drawn_list list;

static void open_set(const char *problem)
{
    space = published_space(problem);
    seen = published_seen(&space, ".seen");
    list = (struct drawn_list){0};
    ck_assert_int_eq(draw_scouts(&list, &space, &seen, SCOUTS, 1, NULL), 0);
}

static void close_set(void)
{
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}

static struct session_options options(void)
{
    return (struct session_options){.problem = space.problem, .space = &space};
}

/* By their own kind, or as a swap, whose product and sum are equal, too. */
static void expect_kind(int kind, const struct config *a, const struct config *b)
{
    struct sibling_wish found;
    ck_assert(sibling_kind_of(space.problem, a, b, &found));
    ck_assert_msg(found.kind == kind || (found.kind == SIBLING_SWAP && kind != SIBLING_AXIS), "%d, not %d",
                  found.kind, kind);
}

static const struct {
    const char *problem;
    int kinds[SIBLING_KINDS]; /* kinds that it has; -1 ends them */
} sets[] = {
    {"layer_norm", {SIBLING_ARGUMENT, SIBLING_SWAP, SIBLING_PRODUCT, SIBLING_SUM, SIBLING_AXIS, -1}},
    {"gemm_f32", {SIBLING_SWAP, SIBLING_PRODUCT, SIBLING_SUM, SIBLING_AXIS, -1}},
    {"attention", {SIBLING_ARGUMENT, SIBLING_CONTENT, SIBLING_PRODUCT, SIBLING_SUM, SIBLING_AXIS, -1}},
    {"paged_attention", {SIBLING_CONTENT, SIBLING_PRODUCT, SIBLING_SUM, SIBLING_AXIS, -1}},
    {"rope_cache", {SIBLING_CONTENT, SIBLING_PRODUCT, SIBLING_SUM, SIBLING_AXIS, -1}},
    {"cross_entropy", {SIBLING_STRIDE, SIBLING_PRODUCT, SIBLING_SUM, SIBLING_AXIS, -1}},
};

START_TEST(a_sibling_of_a_kind_shares_what_the_kind_says)
{
    open_set(sets[_i].problem);
    const struct session_options o = options();
    for (int k = 0; sets[_i].kinds[k] >= 0; k++) {
        const int kind = sets[_i].kinds[k];
        const struct sibling_wish wish = {kind, {-1, -1}};
        int found = 0;
        for (int i = 0; i < list.count; i++) {
            struct config sibling;
            if (!sibling_choose(&o, &list.item[i].config, &wish, false, 0, &sibling))
                continue;
            found++;
            ck_assert(space_contains(&space, &sibling, NULL));
            ck_assert(!config_same_point(&sibling, &list.item[i].config));
            ck_assert_uint_eq(sibling.seed, list.item[i].config.seed);
            if (kind >= SIBLING_SWAP)
                expect_kind(kind, &list.item[i].config, &sibling);
        }
        ck_assert_msg(found >= SEVERAL, "%s: kind %d: %d", sets[_i].problem, kind, found);
    }
    close_set();
}
END_TEST

/* As in a run: one sibling for each scout, of any kind. */
START_TEST(over_a_quick_set_products_sums_and_swaps_come_several_times)
{
    open_set(sets[_i].problem);
    const struct session_options o = options();
    int count[SIBLING_KINDS] = {0}, equal_product = 0, equal_sum = 0;
    for (int i = 0; i < list.count; i++) {
        struct config sibling, again;
        struct sibling_wish wish;
        if (!sibling_choose(&o, &list.item[i].config, &sibling_any, false, 0, &sibling))
            continue;
        ck_assert(sibling_choose(&o, &list.item[i].config, &sibling_any, false, 0, &again));
        ck_assert(config_equal(&sibling, &again));
        if (!sibling_kind_of(space.problem, &list.item[i].config, &sibling, &wish))
            continue;
        count[wish.kind]++;
        equal_product += wish.kind == SIBLING_PRODUCT || wish.kind == SIBLING_SWAP;
        equal_sum += wish.kind == SIBLING_SUM || wish.kind == SIBLING_SWAP;
    }
    ck_assert_int_ge(equal_product, SEVERAL);
    ck_assert_int_ge(equal_sum, SEVERAL);
    ck_assert_int_ge(count[SIBLING_AXIS], SEVERAL);
    close_set();
}
END_TEST

START_TEST(what_two_configurations_share_is_said)
{
    static const struct {
        const char *a, *b, *says;
    } pairs[] = {
        {"rows=6 cols=10 eps=small", "rows=10 cols=6 eps=small", "rows and cols swapped"},
        {"rows=6 cols=10 eps=small", "rows=15 cols=4 eps=small", "equal rows*cols"},
        {"rows=6 cols=10 eps=small", "rows=15 cols=4 eps=large", "equal rows*cols"},
        {"rows=6 cols=10 eps=small", "rows=7 cols=9 eps=small", "equal rows+cols"},
        {"rows=6 cols=10 eps=small", "rows=6 cols=10 eps=large", "equal except for eps"},
        {"rows=6 cols=10 eps=small", "rows=7 cols=10 eps=small", "equal except for rows"},
        {"rows=6 cols=10 eps=small", "rows=7 cols=23 eps=small", "equal except for rows and cols"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct config a = parse("layer_norm", pairs[i].a), b = parse("layer_norm", pairs[i].b);
        char text[SIBLING_TEXT];
        sibling_relation(a.problem, &a, &b, text);
        ck_assert_str_eq(text, pairs[i].says);
    }
}
END_TEST

TCase *sibling_case(void)
{
    TCase *tests = tcase_create("sibling");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_sibling_of_a_kind_shares_what_the_kind_says, 0, sizeof sets / sizeof *sets);
    tcase_add_loop_test(tests, over_a_quick_set_products_sums_and_swaps_come_several_times, 0,
                        sizeof sets / sizeof *sets);
    tcase_add_test(tests, what_two_configurations_share_is_said);
    return tests;
}
