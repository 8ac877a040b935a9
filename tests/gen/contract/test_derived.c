/* Derived sizes: equal to the drawn instance's, and the places where they may be named. Runs in the
 * repository root. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/condition.h"
#include "gen/draw/move.h"
#include "gen/contract/instantiate.h"
#include "gen/contract/constraint.h"
#include "suites.h"
#include "gen_fixture.h"

enum { CONFIGS = 3000, LARGEST = 300, ENOUGH = 50 };

/* Any choices; numbers up to LARGEST, so that thousands of instances take no time. */
static struct config random_config(const struct space *space, struct pcg *stream)
{
    struct config config = {.problem = space->problem};
    do {
        config.seed = draw_config_seed(stream);
        for (int i = 0; space->problem->axes[i].name; i++) {
            struct domain domain = space->domain[i];
            if (domain.value_count == 0 && domain.high > LARGEST)
                domain.high = LARGEST;
            config.value[i] = domain_random(&domain, stream);
        }
    } while (!draw_in_constraints(space, &config));
    return config;
}

/* --- counts of a real instance --- */

struct counted {
    int64_t most, least; /* over both contents */
    int64_t most_of[CHECKED_CONTENTS];
};

/* `steps`: from one element to the next, instead of the elements. */
static struct counted count_given(const struct config *config, int tensor, bool steps)
{
    struct counted counted = {.most = -1, .least = INT64_MAX, .most_of = {-1, -1}};
    for (int content = 0; content < CHECKED_CONTENTS; content++) {
        struct instance instance;
        ck_assert_int_eq(config_instantiate(config, content, &instance), 0);
        const int32_t *given = instance.tensor[tensor].fill.given;
        const int64_t count = instance_tensor_count(&instance.tensor[tensor]) - steps;
        for (int64_t i = 0; i < count; i++) {
            const int64_t value = steps ? given[i + 1] - given[i] : given[i];
            if (value > counted.most_of[content])
                counted.most_of[content] = value;
            counted.least = value < counted.least ? value : counted.least;
        }
        if (counted.most_of[content] > counted.most)
            counted.most = counted.most_of[content];
        instance_clear(&instance);
    }
    return counted;
}

static void expect_derived(const struct config *config, const char *name, int64_t want)
{
    char line[320];
    const int index = problem_derived_index(config->problem, name);
    ck_assert_int_ge(index, 0);
    config_format(config, line, sizeof line);
    ck_assert_msg(config_derived(config, index) == want, "%s is %lld, counted %lld: %s", name,
                  (long long)config_derived(config, index), (long long)want, line);
}

START_TEST(rows_of_experts_are_those_of_real_instances)
{
    struct space space = published_space("moe_up");
    struct pcg *stream = pcg_new(1, "derived");
    int empty = 0, apart = 0, several = 0;
    for (int i = 0; i < CONFIGS; i++) {
        const struct config config = random_config(&space, stream);
        const struct counted counted = count_given(&config, 1, true);
        expect_derived(&config, "most_rows", counted.most);
        expect_derived(&config, "least_rows", counted.least);
        empty += counted.least == 0;
        several += counted.least > 1;
        apart += counted.most_of[0] < counted.most_of[1]; /* content 0 alone does not decide */
    }
    ck_assert(empty > ENOUGH && several > ENOUGH && apart > ENOUGH);
    pcg_free(stream);
    space_clear(&space);
}
END_TEST

START_TEST(the_shortest_sequence_is_that_of_real_instances)
{
    struct space space = published_space("paged_attention");
    struct pcg *stream = pcg_new(2, "derived");
    const int max_len = problem_axis_index(space.problem, "max_len");
    int shorter[8] = {0};
    for (int i = 0; i < CONFIGS; i++) {
        const struct config config = random_config(&space, stream);
        const struct counted counted = count_given(&config, 3, false);
        expect_derived(&config, "shortest", counted.least);
        ck_assert_int_eq(counted.most, config.value[max_len]);
        shorter[config_value(&config, "lengths")] += counted.least < counted.most;
    }
    ck_assert_int_eq(shorter[0], 0); /* equal */
    for (int i = 1; i < 6; i++)
        ck_assert_int_gt(shorter[i], ENOUGH);
    pcg_free(stream);
    space_clear(&space);
}
END_TEST

START_TEST(the_cache_is_that_of_real_instances)
{
    struct space space = published_space("paged_attention");
    struct pcg *stream = pcg_new(4, "derived");
    for (int i = 0; i < CONFIGS; i++) {
        const struct config config = random_config(&space, stream);
        for (int content = 0; content < CHECKED_CONTENTS; content++) {
            struct instance instance;
            ck_assert_int_eq(config_instantiate(&config, content, &instance), 0);
            expect_derived(&config, "cache", instance_tensor_count(&instance.tensor[1]));
            instance_clear(&instance);
        }
    }
    pcg_free(stream);
    space_clear(&space);
}
END_TEST

START_TEST(a_derived_size_depends_on_its_own_axes_and_the_seed_alone)
{
    static const char *const problems[] = {"moe_up", "paged_attention"};
    struct space space = published_space(problems[_i]);
    struct pcg *stream = pcg_new(3, problems[_i]);
    for (int d = 0; space.problem->derived[d].name; d++) {
        int moved = 0;
        for (int i = 0; i < CONFIGS; i++) {
            const struct config config = random_config(&space, stream);
            struct config other = random_config(&space, stream);
            other.seed = config.seed;
            for (const char *const *name = space.problem->derived[d].axes; *name; name++) {
                const int axis = problem_axis_index(space.problem, *name);
                other.value[axis] = config.value[axis];
            }
            ck_assert_int_eq(config_derived(&config, d), config_derived(&other, d));
            other.seed++;
            moved += config_derived(&config, d) != config_derived(&other, d);
        }
        ck_assert_int_gt(moved, ENOUGH);
    }
    pcg_free(stream);
    space_clear(&space);
}
END_TEST

START_TEST(tables_of_derived_sizes_are_sound)
{
    const struct problem *problem = problem_registry[_i];
    for (const struct derived *d = problem->derived; d && d->name; d++) {
        ck_assert_int_eq(problem_axis_index(problem, d->name), -1);
        ck_assert_ptr_eq(d, &problem->derived[problem_derived_index(problem, d->name)]);
        ck_assert(d->help && d->help[0] && d->axes[0] && !d->axes[DERIVED_MAX_AXES]);
        for (const char *const *name = d->axes; *name; name++)
            ck_assert_msg(problem_axis_index(problem, *name) >= 0, "%s of %s", *name, d->name);
    }
    ck_assert_int_eq(problem_derived_index(problem, "nothing"), -1);
}
END_TEST

/* --- where they may be named --- */

START_TEST(a_condition_names_the_derived_sizes_of_its_own_problem_only)
{
    char why[256];
    ck_assert_ptr_null(condition_parse(problem_find("moe_up"), "shortest > 1", why, sizeof why));
    ck_assert_msg(strstr(why, "or of a derived size") != NULL, "%s", why);
    ck_assert_ptr_null(condition_parse(problem_find("softmax"), "most_rows > 1", why, sizeof why));
    ck_assert_msg(strstr(why, "derived") == NULL, "%s", why);
    ck_assert_ptr_null(condition_parse(problem_find("moe_up"), "most_rows=even", why, sizeof why));
}
END_TEST

START_TEST(a_contract_may_not_name_a_derived_size)
{
    struct space space;
    struct space_error error;
    char path[] = "/tmp/unseen-derived-XXXXXX", line[256];
    const int file = mkstemp(path);
    FILE *in = fopen("shapes/moe_up.space", "re"), *out = fdopen(file, "w");
    ck_assert(in && out);
    while (fgets(line, sizeof line, in))
        fputs(line, out);
    fputs("limit most_rows <= 64\n", out);
    fclose(in);
    fclose(out);
    const int status = space_read(&space, problem_find("moe_up"), path, &error);
    unlink(path);
    ck_assert_int_eq(status, -1);
    ck_assert_msg(strstr(error.text, ":8: limit: found 'most_rows <= 64'") != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "since it is drawn") != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "---> ") != NULL, "%s", error.text);
}
END_TEST

Suite *derived_suite(void)
{
    Suite *suite = suite_create("derived");
    TCase *tcase = tcase_create("derived");
    int problems = 0;
    while (problem_registry[problems])
        problems++;
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, rows_of_experts_are_those_of_real_instances);
    tcase_add_test(tcase, the_shortest_sequence_is_that_of_real_instances);
    tcase_add_test(tcase, the_cache_is_that_of_real_instances);
    tcase_add_loop_test(tcase, a_derived_size_depends_on_its_own_axes_and_the_seed_alone, 0, 2);
    tcase_add_loop_test(tcase, tables_of_derived_sizes_are_sound, 0, problems);
    tcase_add_test(tcase, a_condition_names_the_derived_sizes_of_its_own_problem_only);
    tcase_add_test(tcase, a_contract_may_not_name_a_derived_size);
    suite_add_tcase(suite, tcase);
    return suite;
}
