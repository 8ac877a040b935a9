/* The seen and unseen sets: their contents, and contents that they never have. Runs in the repository
 * root. */
#include "share.h"
#include "gen_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/draw/draw.h"
#include "gen/contract/instantiate.h"

static const char *const problems[] = {"softmax", "gemm_fp8", "paged_attention"};
static const int problem_total = sizeof problems / sizeof *problems;

/* --- helpers --- */

static struct drawn_list draw(const struct space *space, const struct config_list *seen, int count,
                              uint64_t seed, const struct draw_caps *caps)
{
    struct drawn_list list;
    struct space_error error = {""};
    ck_assert_msg(draw_unseen(&list, space, seen, NULL, count, seed, caps, NULL, &error) == 0, "%s",
                  error.text);
    return list;
}

static int count_point(const struct drawn_list *list, const struct config *point)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += config_same_point(&list->item[i].config, point);
    return count;
}

static void expect_legal_and_unseen(const struct space *space, const struct config_list *seen,
                                    const struct drawn_list *list)
{
    struct space_error error;
    for (int i = 0; i < list->count; i++) {
        const struct config *config = &list->item[i].config;
        ck_assert_msg(space_contains(space, config, &error), "%s: %s", list->item[i].why, error.text);
        ck_assert(config->seed < (uint64_t)1 << 31);
        for (int j = 0; j < seen->count; j++)
            ck_assert(!config_same_point(config, &seen->item[j]));
    }
}

/* --- drawing --- */

START_TEST(the_seen_set_is_whole_and_has_seeds)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list a, b;
    seen.item[1].seed = 77;
    ck_assert_int_eq(draw_seen(&a, &seen, 5), 0);
    ck_assert_int_eq(draw_seen(&b, &seen, 6), 0);
    ck_assert_int_eq(a.count, seen.count);
    for (int i = 0; i < a.count; i++) {
        ck_assert(config_same_point(&a.item[i].config, &seen.item[i]));
        ck_assert(i == 1 || a.item[i].config.seed != b.item[i].config.seed);
        ck_assert_str_eq(a.item[i].why, "published");
    }
    ck_assert_uint_eq(a.item[1].config.seed, 77);
    drawn_list_clear(&a);
    drawn_list_clear(&b);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

static bool has_numbers(const struct drawn_list *list, const struct config *wanted)
{
    for (int i = 0; i < list->count; i++) {
        bool equal = true;
        for (int j = 0; wanted->problem->axes[j].name; j++)
            if (wanted->problem->axes[j].kind == AXIS_NUMBER)
                equal = equal && list->item[i].config.value[j] == wanted->value[j];
        if (equal)
            return true;
    }
    return false;
}

START_TEST(every_neighbour_at_distance_one_is_drawn)
{
    static const char *const suffix[] = {".seen", ".host.seen"};
    const char *problem = problems[_i]; /* softmax and gemm_fp8: no limit couples their axes */
    struct space space = published_space(problem);
    struct config_list seen = published_seen(&space, suffix[_i]);
    struct draw_caps caps = {1e9, 1e9};
    struct drawn_list list = draw(&space, &seen, 300, 1, &caps);
    for (int i = 0; i < seen.count; i++)
        for (int axis = 0; space.problem->axes[axis].kind == AXIS_NUMBER; axis++)
            for (int sign = -1; sign <= 1; sign += 2) {
                struct config near = seen.item[i];
                near.value[axis] += sign;
                ck_assert_msg(has_numbers(&list, &near), "%s: seen %d, axis %d, %+d", problem, i, axis, sign);
            }
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(a_neighbour_that_a_limit_forbids_is_repaired)
{
    struct space space = published_space("paged_attention");
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list = draw(&space, &seen, 300, 1, NULL);
    int repaired = 0;
    for (int i = 0; i < list.count; i++)
        repaired += strstr(list.item[i].why, "heads+1, kv_heads to ") != NULL;
    ck_assert_int_gt(repaired, 3);
    expect_legal_and_unseen(&space, &seen, &list);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

static const char *const restricted[] = {
    "rows 1..65536\ncols 1..1048576\ninput normal\nlimit rows % 3 == 0\nlimit rows*cols <= 2^20\n",
    "m 1..16384 tile 128\nn 64 128\nk = 4096\ninput needle\n",
    "batch 1..4\nheads 1..1024\nkv_heads 7 11 13\nhead_dim 64 128\npage_size 16\nmax_len 1..131072\n"
    "lengths ragged\ntable shared\npast nan invalid\ninput onehot\nlimit heads % kv_heads == 0\n"
    "limit heads <= 16*kv_heads\nlimit batch*max_len % 2 == 0\n",
};

enum {
    RESTRICTED = sizeof restricted / sizeof *restricted,
    SMALL_SETS = 2 * (40 + 300),
    WITH_A_LARGE_ONE = SMALL_SETS + 1500
};

/* DRAWS=1000000: so many of every contract. */
static int draws_wanted(int i)
{
    const char *draws = getenv("DRAWS");
    return draws ? atoi(draws) : share_has(i, 4) ? WITH_A_LARGE_ONE : SMALL_SETS;
}

/* Sets of usual sizes, each from a seed of its own, every other one under narrow caps. All parts of a draw
 * have their turn in each. */
START_TEST(no_draw_ever_leaves_the_contract_or_meets_the_seen_set)
{
    SHARE_TEST(_i, 3);
    const bool published = _i >= RESTRICTED;
    const char *problem = published ? problem_registry[_i - RESTRICTED]->name : problems[_i];
    const struct draw_caps caps = {3e7, 3e8};
    struct space space = published ? published_space(problem) : good_space(problem, restricted[_i]);
    struct config_list seen = {0};
    if (published)
        seen = published_seen(&space, ".seen");
    const int turn = share_size() > 1 ? share_rotation_of(2) : 0;
    for (int drawn = 0, set = 0; drawn < draws_wanted(_i); set++) {
        const int count = effort_count((enum effort)(set / 2 % 3));
        struct drawn_list list = draw(&space, &seen, count, (uint64_t)set, (set + turn) % 2 ? &caps : NULL);
        ck_assert_int_eq(list.count, count);
        expect_legal_and_unseen(&space, &seen, &list);
        drawn += list.count;
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* Drawing uses the cost model, the verifier the instance. */
static void expect_measured(const struct config *config, const struct instance *instance)
{
    struct instance measured;
    ck_assert_int_eq(config_measure(config, &measured), 0);
    ck_assert_mem_eq(measured.extent, instance->extent, sizeof measured.extent);
    for (int t = 0; config->problem->tensors[t].name; t++) {
        ck_assert_int_eq(measured.tensor[t].rank, instance->tensor[t].rank);
        ck_assert_mem_eq(measured.tensor[t].dim, instance->tensor[t].dim, sizeof measured.tensor[t].dim);
    }
    ck_assert(measured.flops == instance->flops && measured.bytes == instance->bytes);
    instance_clear(&measured);
}

START_TEST(draws_stay_within_the_caps_of_one_and_of_the_set)
{
    struct space space = published_space(problems[_i]);
    struct config_list seen = published_seen(&space, ".seen");
    const struct draw_caps caps = {3e7, 3e7};
    struct drawn_list list = draw(&space, &seen, 300, 11, &caps);
    double flops = 0, bytes = 0;
    for (int i = 0; i < list.count; i++) {
        struct instance instance;
        ck_assert_int_eq(config_instantiate(&list.item[i].config, 0, &instance), 0);
        double all = instance_total_bytes(space.problem, &instance);
        expect_measured(&list.item[i].config, &instance);
        ck_assert(all <= caps.bytes && instance.flops <= caps.flops);
        flops += instance.flops;
        bytes += all;
        instance_clear(&instance);
    }
    /* 12 and 6 caps for every hundred draws */
    ck_assert(flops <= 3 * 12 * caps.flops && bytes <= 3 * 6 * caps.bytes);
    ck_assert_int_eq(list.count, 300);
    expect_legal_and_unseen(&space, &seen, &list);
    for (int i = 0; i < list.count; i++)
        ck_assert_int_eq(count_point(&list, &list.item[i].config), 1);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(long_single_axes_appear)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen");
    const struct draw_caps caps = {1e7, 1e8}; /* 8 bytes an element: one longest row, and little more */
    struct drawn_list list = draw(&space, &seen, 35, 4, &caps);
    int longest = 0;
    for (int i = 0; i < list.count; i++)
        longest += list.item[i].config.value[1] == 1048576;
    ck_assert_int_ge(longest, 1);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(equal_seeds_draw_equal_sets)
{
    struct space space = published_space(problems[_i]);
    struct config_list seen = published_seen(&space, ".seen");
    const struct draw_caps caps = {1e8, 1e8};
    struct drawn_list a = draw(&space, &seen, 100, 9, &caps), b = draw(&space, &seen, 100, 9, &caps),
                      other = draw(&space, &seen, 100, 10, &caps);
    char hash[3][65];
    ck_assert_int_eq(drawn_commitment(&a, false, hash[0]), 0);
    ck_assert_int_eq(drawn_commitment(&b, false, hash[1]), 0);
    ck_assert_int_eq(drawn_commitment(&other, false, hash[2]), 0);
    ck_assert_str_eq(hash[0], hash[1]);
    ck_assert_str_ne(hash[0], hash[2]);
    for (int i = 0; i < a.count; i++)
        ck_assert_str_eq(a.item[i].why, b.item[i].why);
    drawn_list_clear(&a);
    drawn_list_clear(&b);
    drawn_list_clear(&other);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

static int count_common(const struct drawn_list *a, const struct drawn_list *b, const char *why, int *total)
{
    int common = 0;
    *total = 0;
    for (int i = 0; i < a->count; i++) {
        bool found = false;
        if (strncmp(a->item[i].why, why, strlen(why)) != 0)
            continue;
        for (int j = 0; j < b->count; j++)
            found = found || config_equal(&a->item[i].config, &b->item[j].config);
        common += found;
        ++*total;
    }
    return common;
}

START_TEST(more_neighbours_leave_the_random_draws_as_they_were)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen"), fewer = seen;
    int total;
    fewer.count = 1; /* with this seed no random draw equals one of another part */
    struct drawn_list a = draw(&space, &seen, 200, 11, NULL), b = draw(&space, &fewer, 200, 11, NULL);
    int common = count_common(&a, &b, "random", &total);
    ck_assert_int_gt(total, 50);
    ck_assert_int_eq(common, total);
    drawn_list_clear(&a);
    drawn_list_clear(&b);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(frozen_failures_come_first_unless_seen)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen"), frozen = {0};
    struct config failure = parse("softmax", "rows=3 cols=4099 input=needle seed=91");
    struct drawn_list list;
    struct draw_notes notes;
    struct space_error error;
    config_list_add(&frozen, &failure);
    config_list_add(&frozen, &failure);
    config_list_add(&frozen, &seen.item[0]);
    failure.seed = 92;
    config_list_add(&frozen, &failure);
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, &frozen, 35, 1, NULL, &notes, &error), 0);
    ck_assert_int_eq(list.count, 35);
    ck_assert_str_eq(list.item[0].why, "frozen failure");
    ck_assert_uint_eq(list.item[0].config.seed, 91);
    ck_assert(config_equal(&list.item[1].config, &failure));
    ck_assert_str_ne(list.item[2].why, "frozen failure");
    expect_contains(notes.text, "pairs covered ");
    expect_contains(notes.text, "1 frozen failures left out");
    drawn_list_clear(&list);
    config_list_clear(&frozen);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(the_notes_name_every_axis_that_the_caps_cut)
{
    struct space space = published_space("softmax");
    struct config_list seen = published_seen(&space, ".seen");
    const struct draw_caps caps = {8e5, 1e12}; /* 10^5 elements of 8 bytes */
    struct drawn_list list;
    struct draw_notes notes;
    struct space_error error;
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, 35, 1, &caps, &notes, &error), 0);
    expect_contains(notes.text, "800 kbyte");
    expect_contains(notes.text, "cols: cut at 100000 of 1048576");
    ck_assert_ptr_null(strstr(notes.text, "rows: "));
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(a_small_contract_is_drawn_whole_and_then_again)
{
    struct space space = good_space("softmax", "rows 3 5\ncols 1..4\ninput normal ties\n");
    struct config seen_point = parse("softmax", "rows=3 cols=2");
    struct config_list seen = {0};
    config_list_add(&seen, &seen_point);
    struct drawn_list list = draw(&space, &seen, 35, 2, NULL);
    int points = 0;
    ck_assert_int_eq(list.count, 35);
    expect_legal_and_unseen(&space, &seen, &list);
    for (int i = 0; i < list.count; i++) { /* the first of every point; no line twice */
        struct drawn_list before = {.item = list.item, .count = i};
        points += count_point(&before, &list.item[i].config) == 0;
        for (int j = 0; j < i; j++)
            ck_assert(!config_equal(&list.item[i].config, &list.item[j].config));
    }
    ck_assert_int_eq(points, 15);
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(nothing_to_draw_is_an_error_with_a_hint)
{
    struct space space = good_space("softmax", "rows = 3\ncols = 4\ninput normal\n");
    struct config_list seen = {0};
    struct config point = parse("softmax", "rows=3 cols=4");
    const struct draw_caps caps = {1, 1};
    struct drawn_list list;
    struct space_error error;
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, 5, 1, &caps, NULL, &error), -1);
    expect_contains(error.text, "within 1 bytes and 1 flops");
    config_list_add(&seen, &point);
    ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, 5, 1, NULL, NULL, &error), -1);
    expect_contains(error.text, "every point of the contract is in the seen set");
    expect_contains(error.text, "\n---> widen the .space file");
    ck_assert_ptr_null(list.item);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(the_commitment_is_the_sha256_of_the_lines)
{
    struct drawn item[2] = {{.config = parse("softmax", "rows=3 cols=4099 input=needle seed=91")},
                            {.config = parse("softmax", "rows=1 cols=1 seed=7")}};
    struct drawn_list list = {.item = item, .count = 2};
    char hex[65];
    ck_assert_int_eq(drawn_commitment(&list, false, hex), 0);
    /* the output of sha256sum for the two lines */
    ck_assert_str_eq(hex, "42b297cdbf9ae25fb99fd60e391d463995534e7b033b8475e8b4301da38f3f18");
    list.count = 0;
    ck_assert_int_eq(drawn_commitment(&list, false, hex), 0);
    ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
END_TEST

TCase *gen_contract_case(void)
{
    TCase *tests = tcase_create("every draw");
    int published = 0;
    while (problem_registry[published])
        published++;
    tcase_set_timeout(tests, 120 + draws_wanted(0) / 200.0);
    tcase_add_loop_test(tests, no_draw_ever_leaves_the_contract_or_meets_the_seen_set, 0,
                        RESTRICTED + published);
    return tests;
}

TCase *gen_draw_case(void)
{
    TCase *tests = tcase_create("sets");
    tcase_set_timeout(tests, 60); /* under a sanitizer, on a shared core */
    tcase_add_test(tests, the_seen_set_is_whole_and_has_seeds);
    tcase_add_loop_test(tests, every_neighbour_at_distance_one_is_drawn, 0, 2);
    tcase_add_test(tests, a_neighbour_that_a_limit_forbids_is_repaired);
    tcase_add_loop_test(tests, draws_stay_within_the_caps_of_one_and_of_the_set, 0, problem_total);
    tcase_add_test(tests, long_single_axes_appear);
    tcase_add_loop_test(tests, equal_seeds_draw_equal_sets, 0, problem_total);
    tcase_add_test(tests, more_neighbours_leave_the_random_draws_as_they_were);
    tcase_add_test(tests, frozen_failures_come_first_unless_seen);
    tcase_add_test(tests, the_notes_name_every_axis_that_the_caps_cut);
    tcase_add_test(tests, a_small_contract_is_drawn_whole_and_then_again);
    tcase_add_test(tests, nothing_to_draw_is_an_error_with_a_hint);
    tcase_add_test(tests, the_commitment_is_the_sha256_of_the_lines);
    return tests;
}
