/* Scouts: the same lines for the same seed, small, new, and beside a set that is the same without them. */
#include "gen_fixture.h"

#include <stdlib.h>

#include "gen/contract/instantiate.h"
#include "gen/draw/draw.h"

enum { QUICK = 35, SCOUTS = 190 };

static const char *const problems[] = {"softmax", "attention", "conv2d_f32", "gemm_w4a16"};
static const int problem_total = sizeof problems / sizeof *problems;

/* The set of `quick`, with `scouts` of them behind. */
static struct drawn_list draw(const struct space *space, const struct config_list *seen, int scouts,
                              uint64_t seed)
{
    struct drawn_list list;
    const struct draw_caps caps = {128e6, 5e7};
    ck_assert_int_eq(draw_unseen(&list, space, seen, NULL, QUICK, seed, &caps, NULL, NULL), 0);
    ck_assert_int_eq(draw_scouts(&list, space, seen, scouts, seed, &caps), 0);
    return list;
}

static void expect_same(const struct drawn_list *a, const struct drawn_list *b, int from, int to)
{
    for (int i = from; i < to; i++)
        ck_assert(config_equal(&a->item[i].config, &b->item[i].config));
}

/* Fewer scouts are the first of more: additional ones change nothing before them. */
START_TEST(the_same_seed_draws_the_same_scouts_and_leaves_the_set_as_it_is)
{
    for (int p = 0; p < problem_total; p++) {
        struct space space = published_space(problems[p]);
        struct config_list seen = published_seen(&space, ".seen");
        struct drawn_list none = draw(&space, &seen, 0, 3), some = draw(&space, &seen, 20, 3),
                          all = draw(&space, &seen, SCOUTS, 3), again = draw(&space, &seen, SCOUTS, 3),
                          other = draw(&space, &seen, SCOUTS, 4);
        int same = 0;
        ck_assert_int_eq(none.count, QUICK);
        ck_assert_int_eq(some.count, QUICK + 20);
        ck_assert_int_eq(all.count, QUICK + SCOUTS);
        expect_same(&none, &all, 0, QUICK);
        expect_same(&some, &all, 0, QUICK + 20);
        expect_same(&again, &all, 0, QUICK + SCOUTS);
        for (int i = QUICK; i < all.count; i++)
            same += config_same_point(&all.item[i].config, &other.item[i].config);
        ck_assert_int_le(same, 2);
        drawn_list_clear(&none), drawn_list_clear(&some), drawn_list_clear(&all);
        drawn_list_clear(&again), drawn_list_clear(&other);
        config_list_clear(&seen);
        space_clear(&space);
    }
}
END_TEST

static void expect_small(const struct config *config)
{
    struct instance instance;
    ck_assert_int_eq(config_measure(config, &instance), 0);
    ck_assert_double_le(instance_total_bytes(config->problem, &instance), DRAW_SCOUT_BYTES);
    ck_assert_double_le(instance.flops, DRAW_SCOUT_FLOPS);
    instance_clear(&instance);
}

START_TEST(scouts_are_small_legal_and_nobody_has_drawn_them_before)
{
    for (int p = 0; p < problem_total; p++) {
        struct space space = published_space(problems[p]);
        struct config_list seen = published_seen(&space, ".seen");
        struct drawn_list list = draw(&space, &seen, SCOUTS, 5);
        ck_assert_int_eq(drawn_scouts(&list), SCOUTS);
        for (int i = 0; i < list.count; i++) {
            const struct drawn *drawn = &list.item[i];
            ck_assert_int_eq(drawn->scout, i >= QUICK);
            if (!drawn->scout)
                continue;
            ck_assert_str_eq(drawn->why, "scout");
            ck_assert(space_contains(&space, &drawn->config, NULL));
            expect_small(&drawn->config);
            for (int k = 0; k < i; k++)
                ck_assert(!config_same_point(&drawn->config, &list.item[k].config));
            for (int k = 0; k < seen.count; k++)
                ck_assert(!config_same_point(&drawn->config, &seen.item[k]));
        }
        drawn_list_clear(&list);
        config_list_clear(&seen);
        space_clear(&space);
    }
}
END_TEST

/* Two conditions and an input class at once: 35 configurations rarely meet them, and with the scouts they do
 * on most seeds. */
START_TEST(scouts_meet_what_needs_two_sizes_and_a_class)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen");
    const int negative = problem_choice_index(space.problem, 2, "negative");
    int met = 0, met_without = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct drawn_list list = draw(&space, &seen, SCOUTS, seed);
        bool any[2] = {false, false};
        for (int i = 0; i < list.count; i++) {
            const int64_t *const value = list.item[i].config.value;
            if (value[0] % 4 != 0 && value[1] % 8 != 0 && value[1] < 256 && value[2] == negative)
                any[list.item[i].scout] = true;
        }
        met += any[0] || any[1];
        met_without += any[0];
        drawn_list_clear(&list);
    }
    ck_assert_int_ge(met, 9);
    ck_assert_int_le(met_without, 5);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* Nothing is drawn twice to make up the number, and nothing large. */
START_TEST(of_a_contract_without_small_points_there_are_fewer_scouts_or_none)
{
    struct space few = good_space("softmax", "rows 1..3\ncols 1..4\ninput normal\n"),
                 large = good_space("softmax", "rows 512..600\ncols 4096..8192\ninput normal ties\n");
    struct config_list seen = {0};
    struct drawn_list list = {0};
    ck_assert_int_eq(draw_scouts(&list, &few, &seen, SCOUTS, 1, NULL), 0);
    ck_assert_int_ge(list.count, 10);
    ck_assert_int_le(list.count, 12);
    drawn_list_clear(&list);
    ck_assert_int_eq(draw_scouts(&list, &large, &seen, SCOUTS, 1, NULL), 0);
    ck_assert_int_eq(list.count, 0);
    drawn_list_clear(&list);
    space_clear(&few);
    space_clear(&large);
}
END_TEST

TCase *gen_scouts_case(void)
{
    TCase *tcase = tcase_create("scouts");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_same_seed_draws_the_same_scouts_and_leaves_the_set_as_it_is);
    tcase_add_test(tcase, scouts_are_small_legal_and_nobody_has_drawn_them_before);
    tcase_add_test(tcase, scouts_meet_what_needs_two_sizes_and_a_class);
    tcase_add_test(tcase, of_a_contract_without_small_points_there_are_fewer_scouts_or_none);
    return tcase;
}
