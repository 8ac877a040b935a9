/* The parts of an unseen set under caps: each keeps its purpose. */
#include "gen_fixture.h"

#include <stdio.h>
#include <string.h>

#include "gen/draw/draw.h"
#include "gen/contract/instantiate.h"

static const char *const problems[] = {"softmax", "gemm_fp8", "paged_attention"};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* So little that no part has all that it could use. */
static const struct draw_caps caps = {3e7, 3e7};

static struct drawn_list draw(const struct space *space, const struct config_list *seen, uint64_t seed)
{
    struct drawn_list list;
    struct space_error error;
    ck_assert_msg(draw_unseen(&list, space, seen, NULL, 300, seed, &caps, NULL, &error) == 0, "%s",
                  error.text);
    return list;
}

static bool is_large(const struct config *config, double share)
{
    struct instance instance;
    ck_assert_int_eq(config_instantiate(config, 0, &instance), 0);
    const double bytes = instance_total_bytes(config->problem, &instance);
    const bool large = instance.flops >= share * caps.flops || bytes >= share * caps.bytes;
    instance_clear(&instance);
    return large;
}

static int rank_of(const struct config *config)
{
    const struct problem *problem = config->problem;
    return problem->classes[config->value[problem_input_axis(problem)]].discriminating;
}

/* The contract without its sharpest class. */
static void remove_sharpest(struct space *space)
{
    struct domain *domain = &space->domain[problem_input_axis(space->problem)];
    int kept = 0;
    for (int i = 0; i < domain->value_count; i++)
        if (space->problem->classes[domain->value[i]].discriminating != 1)
            domain->value[kept++] = domain->value[i];
    ck_assert_int_eq(kept, domain->value_count - 1);
    domain->value_count = kept;
}

/* Draws whose reason begins so and that take a quarter of the caps or more. */
static int count_large(const struct drawn_list *list, const char *why)
{
    int large = 0;
    for (int i = 0; i < list->count; i++)
        large += strncmp(list->item[i].why, why, strlen(why)) == 0 && is_large(&list->item[i].config, 0.25);
    return large;
}

/* The part for large sizes may ask for more: no part may leave the others with small ones only. */
START_TEST(every_part_has_large_configurations)
{
    static const char *const parts[] = {"corner", "covering", "random"};
    struct space space = published_space(problems[_i]);
    struct config_list seen = published_seen(&space, ".seen");
    int large[3] = {0};
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct drawn_list list = draw(&space, &seen, seed);
        for (int part = 0; part < 3; part++)
            large[part] += count_large(&list, parts[part]);
        drawn_list_clear(&list);
    }
    for (int part = 0; part < 3; part++)
        ck_assert_msg(large[part] >= 4, "%s: %s has %d", problems[_i], parts[part], large[part]);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* A failure in one class must not wait for a set that happens to have it. */
START_TEST(a_short_set_has_every_input_class)
{
    enum { QUICK = 35 };
    struct space space = published_space(problems[_i]);
    struct config_list seen = published_seen(&space, ".seen");
    const int input = problem_input_axis(space.problem);
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct drawn_list list;
        ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, QUICK, seed, &caps, NULL, NULL), 0);
        ck_assert_int_eq(list.count, QUICK);
        for (int i = 0; i < space.domain[input].value_count; i++) {
            const int64_t class = space.domain[input].value[i];
            int drawn = 0;
            for (int d = 0; d < list.count; d++)
                drawn += list.item[d].config.value[input] == class;
            ck_assert_msg(drawn > 0, "%s, seed %d: no %s", problems[_i], (int)seed,
                          problem_choice(space.problem, input, class));
        }
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* A large product may lose precision, which shows on data of the published kind only. */
START_TEST(each_two_axes_are_as_great_as_fits_with_published_data)
{
    static const char *const pairs[] = {"m and n", "m and k", "n and k"};
    struct space space = published_space("gemm_fp8");
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list = draw(&space, &seen, 3 + (uint64_t)_i);
    for (int pair = 0; pair < 3; pair++) {
        char why[64];
        bool found = false;
        snprintf(why, sizeof why, "corner: %s as great as fits", pairs[pair]);
        for (int i = 0; i < list.count && !found; i++)
            found = strcmp(list.item[i].why, why) == 0 &&
                    config_chose(&list.item[i].config, "input", "normal") &&
                    is_large(&list.item[i].config, 0.9);
        ck_assert_msg(found, "no large %s", why);
    }
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* One element missing among very many shows on a discriminating class only. */
static void expect_sharpest(const char *name, int rank)
{
    struct space space = published_space(name);
    if (rank > 1)
        remove_sharpest(&space);
    struct config_list seen = published_seen(&space, ".seen");
    struct drawn_list list = draw(&space, &seen, 4);
    const struct problem *problem = space.problem;
    for (int axis = 0; problem->axes[axis].name; axis++) {
        int64_t greatest = 0;
        bool found = false;
        for (int i = 0; i < list.count; i++)
            if (list.item[i].config.value[axis] > greatest)
                greatest = list.item[i].config.value[axis];
        for (int i = 0; i < list.count && !found; i++)
            found = list.item[i].config.value[axis] == greatest && rank_of(&list.item[i].config) == rank;
        ck_assert_msg(found || problem->axes[axis].kind == AXIS_CHOICE, "%s: %s=%lld", problem->name,
                      problem->axes[axis].name, (long long)greatest);
    }
    drawn_list_clear(&list);
    config_list_clear(&seen);
    space_clear(&space);
}

START_TEST(each_axis_is_at_its_greatest_with_the_sharpest_input)
{
    expect_sharpest(problems[_i], 1);
}
END_TEST

START_TEST(without_its_sharpest_class_a_contract_has_the_next)
{
    expect_sharpest(problems[_i], 2);
}
END_TEST

/* A state that is rounded between tokens forgets a little at each of very many. */
START_TEST(the_longest_sequence_is_drawn_with_the_longest_memory)
{
    struct space space = published_space("kda");
    struct config_list seen = published_seen(&space, ".seen");
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct drawn_list list = draw(&space, &seen, seed);
        bool found = false;
        int64_t longest = 0;
        for (int i = 0; i < list.count; i++)
            if (config_value(&list.item[i].config, "t") > longest)
                longest = config_value(&list.item[i].config, "t");
        for (int i = 0; i < list.count && !found; i++) {
            const struct config *config = &list.item[i].config;
            found = config_value(config, "t") == longest && config_chose(config, "decay", "still") &&
                    config_chose(config, "beta", "sigmoid") && config_chose(config, "input", "normal");
        }
        ck_assert(found);
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

static const char *const summing[] = {"paged_attention", "attention", "kda", "cross_entropy"};

static bool has_choices(const struct accumulation *sum, const struct config *config)
{
    for (int i = 0; i < ACCUMULATION_CHOICES && sum->with[i].axis; i++)
        if (!config_chose(config, sum->with[i].axis, sum->with[i].choice))
            return false;
    return true;
}

/* Two dozen draws end before every axis is at its greatest. */
START_TEST(a_short_set_has_a_long_sum)
{
    enum { FEW = 24, LONG = 100 };
    struct space space = published_space(summing[_i]);
    struct config_list seen = published_seen(&space, ".seen");
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct drawn_list list;
        bool found = false;
        ck_assert_int_eq(draw_unseen(&list, &space, &seen, NULL, FEW, seed, &caps, NULL, NULL), 0);
        for (int i = 0; i < list.count; i++)
            found = found || (has_choices(&space.problem->accumulation, &list.item[i].config) &&
                              config_value(&list.item[i].config, space.problem->accumulation.axis) >= LONG);
        ck_assert_msg(found, "%s, seed %d", summing[_i], (int)seed);
        drawn_list_clear(&list);
    }
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

TCase *gen_parts_case(void)
{
    TCase *tests = tcase_create("parts");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, every_part_has_large_configurations, 0, PROBLEMS);
    tcase_add_loop_test(tests, a_short_set_has_every_input_class, 0, PROBLEMS);
    tcase_add_loop_test(tests, each_axis_is_at_its_greatest_with_the_sharpest_input, 0, PROBLEMS);
    tcase_add_loop_test(tests, without_its_sharpest_class_a_contract_has_the_next, 0, PROBLEMS);
    tcase_add_test(tests, the_longest_sequence_is_drawn_with_the_longest_memory);
    tcase_add_loop_test(tests, a_short_set_has_a_long_sum, 0, sizeof summing / sizeof *summing);
    tcase_add_loop_test(tests, each_two_axes_are_as_great_as_fits_with_published_data, 0, 4);
    return tests;
}
