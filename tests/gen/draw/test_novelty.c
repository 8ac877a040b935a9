/* The new features that one more configuration adds to a set. */
#include "gen_fixture.h"

#include <string.h>

#include "gen/draw/draw.h"
#include "gen/draw/move.h"
#include "gen/draw/novelty.h"

static struct novelty *novelty_of_space(const struct space *space, const struct config_list *seen)
{
    struct novelty *novelty = novelty_open(space, seen);
    ck_assert_ptr_nonnull(novelty);
    return novelty;
}

/* Any points of the contract, limits aside: novelty does not ask for them. */
static struct config any_point(const struct space *space, struct pcg *stream)
{
    struct config config;
    draw_random_values(space, &config, stream);
    return config;
}

START_TEST(a_configuration_is_no_novelty_after_it_was_marked)
{
    struct space space = published_space(problem_registry[_i]->name);
    struct novelty *novelty = novelty_of_space(&space, NULL);
    struct pcg *stream = pcg_new(1, "test");
    double first = 0, last = 0;
    for (int i = 0; i < 200; i++) {
        struct config config = any_point(&space, stream);
        last = novelty_of(novelty, &config);
        first = i == 0 ? last : first;
        ck_assert_double_ge(last, 0);
        novelty_mark(novelty, &config);
        ck_assert(novelty_of(novelty, &config) == 0);
        config.seed++; /* other inputs of the same kind */
        ck_assert(novelty_of(novelty, &config) == 0);
    }
    ck_assert_double_gt(first, 100);
    ck_assert_double_lt(last, first); /* the more was drawn, the less is new */
    pcg_free(stream);
    novelty_close(novelty);
    space_clear(&space);
}
END_TEST

/* Drawing compares one axis when it moves that axis. The result equals a comparison of the whole. */
START_TEST(what_one_axis_says_is_what_the_whole_differs_by)
{
    struct space space = published_space(problem_registry[_i]->name);
    struct novelty *novelty = novelty_of_space(&space, NULL);
    struct pcg *stream = pcg_new(1, "test");
    int differ = 0;
    for (int i = 0; i < 40; i++) {
        struct config config = any_point(&space, stream), other = any_point(&space, stream);
        for (int a = 0; space.problem->axes[a].name; a++) {
            struct config moved = config;
            if (space.problem->axes[a].kind != AXIS_NUMBER)
                continue;
            moved.value[a] = other.value[a];
            const double whole = novelty_of(novelty, &moved) - novelty_of(novelty, &config);
            ck_assert_double_eq(novelty_of_axis(novelty, &moved, a) - novelty_of_axis(novelty, &config, a),
                                whole);
            differ += whole != 0;
        }
        novelty_mark(novelty, &config);
    }
    ck_assert_int_gt(differ, 10);
    pcg_free(stream);
    novelty_close(novelty);
    space_clear(&space);
}
END_TEST

/* 600000 and 613440 leave the same remainders by all tested moduli (2^7, 3, 5, 7), and have as many bits. */
static const struct {
    const char *line;
    bool is_new;
} beside[] = {
    {"rows=3 cols=600000 input=normal", false}, {"rows=3 cols=613440 input=normal", false},
    {"rows=3 cols=600001 input=normal", true},  {"rows=3 cols=599999 input=normal", true},
    {"rows=3 cols=600128 input=normal", true}, /* modulo 3, 5 and 7 */
    {"rows=3 cols=506880 input=normal", true}, /* one bit fewer */
    {"rows=4 cols=600000 input=normal", true},  {"rows=3 cols=600000 input=wide", true},
};

START_TEST(one_axis_moved_by_one_residue_is_a_novelty)
{
    struct space space = published_space("softmax");
    struct novelty *novelty = novelty_of_space(&space, NULL);
    const struct config before = parse("softmax", "rows=3 cols=600000 input=normal");
    const struct config config = parse("softmax", beside[_i].line);
    novelty_mark(novelty, &before);
    if (beside[_i].is_new)
        ck_assert_double_gt(novelty_of(novelty, &config), 0);
    else
        ck_assert(novelty_of(novelty, &config) == 0);
    novelty_close(novelty);
    space_clear(&space);
}
END_TEST

/* Both values known alone: the remaining novelty is their meeting on a new row count. */
START_TEST(a_published_value_weighs_more_than_another_one)
{
    struct space space = published_space("softmax");
    struct config point = parse("softmax", "rows=3 cols=600000"),
                  other = parse("softmax", "rows=3 cols=613440");
    struct config_list seen = {.item = &point, .count = 1};
    struct novelty *novelty = novelty_of_space(&space, &seen), *blind = novelty_of_space(&space, NULL);
    ck_assert_double_gt(novelty_of(novelty, &point), novelty_of(novelty, &other));
    ck_assert(novelty_of(blind, &point) == novelty_of(blind, &other));
    struct config met[] = {point, other};
    novelty_mark(novelty, &met[0]);
    novelty_mark(novelty, &met[1]);
    met[0].value[0] = met[1].value[0] = 1000;
    ck_assert_double_gt(novelty_of(novelty, &met[0]), 1.1 * novelty_of(novelty, &met[1]));
    novelty_close(novelty);
    novelty_close(blind);
    space_clear(&space);
}
END_TEST

START_TEST(what_only_usual_data_shows_is_not_left_to_the_rest)
{
    struct space space = published_space("gemm_fp8");
    struct novelty *novelty = novelty_of_space(&space, NULL);
    const struct config usual = parse("gemm_fp8", "m=100 n=200 k=300 input=normal"),
                        other = parse("gemm_fp8", "m=100 n=200 k=300 input=needle");
    ck_assert_double_gt(novelty_of(novelty, &usual), novelty_of(novelty, &other));
    novelty_close(novelty);
    space_clear(&space);
}
END_TEST

START_TEST(novelty_is_the_same_on_every_call_and_in_whichever_order_it_was_marked)
{
    enum { POINTS = 100 };
    struct space space = published_space(problem_registry[_i]->name);
    struct config_list seen = published_seen(&space, ".seen");
    struct novelty *a = novelty_of_space(&space, &seen), *b = novelty_of_space(&space, &seen);
    struct pcg *stream = pcg_new(2, "test");
    struct config point[POINTS];
    for (int i = 0; i < POINTS; i++)
        point[i] = any_point(&space, stream);
    for (int i = 0; i < POINTS / 2; i++) {
        novelty_mark(a, &point[i]);
        novelty_mark(b, &point[POINTS / 2 - 1 - i]);
    }
    for (int i = 0; i < POINTS; i++) {
        const double novelty = novelty_of(a, &point[i]);
        ck_assert(novelty_of(a, &point[i]) == novelty);
        ck_assert(novelty_of(b, &point[i]) == novelty);
    }
    pcg_free(stream);
    novelty_close(a);
    novelty_close(b);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* --- its purpose --- */

enum { MODULUS = 128 };

/* Draws for that reason (NULL: any): how many they are, and how many residues they leave on the axis. */
struct residues {
    int draws, met;
};

static struct residues residues_of(const struct drawn_list *list, int axis, const char *why)
{
    struct residues residues = {0, 0};
    bool met[MODULUS] = {false};
    for (int i = 0; i < list->count; i++) {
        bool *one = &met[list->item[i].config.value[axis] % MODULUS];
        if (why && strcmp(list->item[i].why, why) != 0)
            continue;
        residues.draws++;
        residues.met += !*one;
        *one = true;
    }
    return residues;
}

/* As many points as `list` has, each axis log-uniform. */
static void redraw_blindly(const struct space *space, struct drawn_list *list, uint64_t seed)
{
    struct pcg *stream = pcg_new(seed, "test");
    for (int i = 0; i < list->count; i++)
        for (int axis = 0; space->problem->axes[axis].name; axis++)
            list->item[i].config.value[axis] = domain_random(&space->domain[axis], stream);
    pcg_free(stream);
}

static struct drawn_list standard_set(const struct space *space, const struct config_list *seen,
                                      uint64_t seed)
{
    struct drawn_list list;
    struct space_error error;
    ck_assert_int_eq(draw_unseen(&list, space, seen, NULL, 300, seed, NULL, NULL, &error), 0);
    ck_assert_int_eq(list.count, 300);
    return list;
}

enum { RANGES = 3, MOST_UNMET = 4 }; /* gemm_fp8: m, n, k */

/* gemm_fp8 has no limits, and without caps every residue can be drawn: a fault behind k % 128 == 77
 * waits for one of them. Over 40 seeds at most 2 were unmet; by log-uniform points at least 12. */
START_TEST(where_nothing_is_published_hardly_a_residue_modulo_128_is_not_met)
{
    struct space space = published_space("gemm_fp8");
    struct drawn_list list = standard_set(&space, &(const struct config_list){0}, (uint64_t)_i);
    for (int axis = 0; axis < RANGES; axis++)
        ck_assert_int_le(MODULUS - residues_of(&list, axis, NULL).met, MOST_UNMET);
    redraw_blindly(&space, &list, (uint64_t)_i);
    for (int axis = 0; axis < RANGES; axis++)
        ck_assert_int_gt(MODULUS - residues_of(&list, axis, NULL).met, MOST_UNMET);
    drawn_list_clear(&list);
    space_clear(&space);
}
END_TEST

/* Beside neighbours of published configurations about a hundred draws are random. Over 10 seeds 100 of
 * them met 84 residues and more; as many log-uniform points 69 and fewer. */
START_TEST(random_draws_seldom_meet_a_residue_modulo_128_twice)
{
    struct space space = published_space("gemm_fp8");
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list = standard_set(&space, &seen, (uint64_t)_i);
    for (int axis = 0; axis < RANGES; axis++) {
        const struct residues residues = residues_of(&list, axis, "random");
        ck_assert_int_gt(residues.draws, 90);
        ck_assert_int_ge(100 * residues.met, 76 * residues.draws);
    }
    redraw_blindly(&space, &list, (uint64_t)_i);
    for (int axis = 0; axis < RANGES; axis++) {
        const struct residues residues = residues_of(&list, axis, "random");
        ck_assert_int_lt(100 * residues.met, 76 * residues.draws);
    }
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

TCase *gen_novelty_case(void)
{
    TCase *tests = tcase_create("novelty");
    int problems = 0;
    while (problem_registry[problems])
        problems++;
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_configuration_is_no_novelty_after_it_was_marked, 0, problems);
    tcase_add_loop_test(tests, what_one_axis_says_is_what_the_whole_differs_by, 0, problems);
    tcase_add_loop_test(tests, one_axis_moved_by_one_residue_is_a_novelty, 0, sizeof beside / sizeof *beside);
    tcase_add_test(tests, a_published_value_weighs_more_than_another_one);
    tcase_add_test(tests, what_only_usual_data_shows_is_not_left_to_the_rest);
    tcase_add_loop_test(tests, novelty_is_the_same_on_every_call_and_in_whichever_order_it_was_marked, 0,
                        problems);
    tcase_add_loop_test(tests, where_nothing_is_published_hardly_a_residue_modulo_128_is_not_met, 0, 4);
    tcase_add_loop_test(tests, random_draws_seldom_meet_a_residue_modulo_128_twice, 0, 4);
    return tests;
}
