/* Drawing, shrinking and explaining where extents may be 0, and where a problem uses every limit of the
 * format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/contract/scaled.h"
#include "gen/contract/condition.h"
#include "gen/contract/instantiate.h"
#include "gen/draw/draw.h"
#include "gen/rules/explain.h"
#include "gen/shrink/shrink.h"
#include "suites.h"
#include "gen_fixture.h"

enum { COUNT = 300 };

static int read_text(struct space *space, const struct problem *problem, const char *text,
                     struct space_error *error)
{
    char path[] = "/tmp/unseen-test-XXXXXX";
    const int file = mkstemp(path);
    ck_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const int result = space_read(space, problem, path, error);
    unlink(path);
    return result;
}

static struct space scaled_space(void)
{
    struct space space;
    struct space_error error = {""};
    ck_assert_msg(space_read(&space, &problem_scaled_f16, "tests/contract/scaled.space", &error) == 0, "%s",
                  error.text);
    return space;
}

static struct config_list one_seen(const struct space *space)
{
    struct config_list seen = {0};
    struct config config;
    struct space_error error = {""};
    ck_assert_msg(config_parse(&config, space->problem, "rows=64 cols=256 gap_x=0 gap_y=0 negate=0", "test",
                               &error) == 0,
                  "%s", error.text);
    ck_assert_int_eq(config_list_add(&seen, &config), 0);
    return seen;
}

START_TEST(empty_extents_are_drawn_for_themselves_and_seldom)
{
    struct space space = scaled_space();
    struct config_list seen = one_seen(&space);
    struct drawn_list out;
    struct space_error error = {""};
    const int rows = problem_axis_index(space.problem, "rows"),
              cols = problem_axis_index(space.problem, "cols");
    int empty[2] = {0}, both = 0;
    ck_assert_msg(draw_unseen(&out, &space, &seen, NULL, COUNT, 7, NULL, NULL, &error) == 0, "%s",
                  error.text);
    ck_assert_int_eq(out.count, COUNT);
    for (int i = 0; i < out.count; i++) {
        const struct config *config = &out.item[i].config;
        ck_assert(space_contains(&space, config, NULL));
        empty[0] += config->value[rows] == 0;
        empty[1] += config->value[cols] == 0;
        both += config->value[rows] == 0 || config->value[cols] == 0;
    }
    ck_assert_int_gt(empty[0], 0);
    ck_assert_int_gt(empty[1], 0);
    ck_assert_int_lt(both, COUNT / 10);
    drawn_list_clear(&out);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

START_TEST(only_an_axis_that_says_so_may_be_empty)
{
    static const char rest[] = "cols 1..9\ngap_y 0\nnegate 0 1\ninput normal\n";
    struct space space;
    struct space_error error = {""};
    char text[200];
    snprintf(text, sizeof text, "%srows 0..5\ngap_x 0..5\n", rest);
    ck_assert_int_eq(read_text(&space, &problem_scaled_f16, text, &error), -1);
    expect_contains(error.text,
                    ":6: gap_x: found '0..5'; expected a range from 1 or more: this extent is never empty");
    snprintf(text, sizeof text, "%srows 0..0\ngap_x 0\n", rest);
    ck_assert_msg(read_text(&space, &problem_scaled_f16, text, &error) == 0, "%s", error.text);
    ck_assert(domain_contains(&space.domain[0], 0) && !domain_contains(&space.domain[0], 1));
    space_clear(&space);
}
END_TEST

/* A small space has every point met, empty ones among them. */
START_TEST(a_small_space_with_empty_points_is_drawn_whole)
{
    struct space space;
    struct space_error error = {""};
    struct drawn_list out;
    const struct config_list seen = {0};
    ck_assert_msg(read_text(&space, &problem_scaled_f16,
                            "rows 0..2\ncols 0..3\ngap_x 0\ngap_y 0\nnegate 0\ninput normal\n", &error) == 0,
                  "%s", error.text);
    ck_assert_msg(draw_unseen(&out, &space, &seen, NULL, 12, 7, NULL, NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(out.count, 12);
    for (int i = 0; i < out.count; i++)
        for (int j = 0; j < i; j++)
            ck_assert(!config_same_point(&out.item[i].config, &out.item[j].config));
    drawn_list_clear(&out);
    space_clear(&space);
}
END_TEST

/* --- a kernel that fails where a condition holds --- */

static struct condition *condition_of(const char *text)
{
    char why[256] = "";
    struct condition *condition = condition_parse(&problem_scaled_f16, text, why, sizeof why);
    ck_assert_msg(condition != NULL, "%s", why);
    return condition;
}

static int fails(void *condition, const struct config *config)
{
    return condition_holds(condition, config);
}

static const struct {
    const char *condition, *minimal; /* rows and cols */
} shrunken[] = {{"rows > 2 and cols % 64 != 0", "rows=3 cols=1 "},
                {"rows == 0", "rows=0 cols=0 "},
                {"cols == 0 and rows > 5", "rows=6 cols=0 "},
                {"rows < 9000", "rows=0 cols=0 "}};

START_TEST(shrinking_comes_down_to_empty_extents_where_these_fail)
{
    struct space space = scaled_space();
    struct condition *condition = condition_of(shrunken[_i].condition);
    struct shrunk shrunk;
    struct config from = {.problem = &problem_scaled_f16};
    char line[200];
    from.value[0] = _i == 1 ? 0 : 700;
    from.value[1] = _i == 2 ? 0 : 1001;
    ck_assert_int_eq(shrink(&space, &from, 100, fails, condition, &shrunk), 0);
    ck_assert(shrunk.minimal);
    config_format(&shrunk.config, line, sizeof line);
    ck_assert_msg(strncmp(line, shrunken[_i].minimal, strlen(shrunken[_i].minimal)) == 0, "%s", line);
    condition_free(condition);
    space_clear(&space);
}
END_TEST

static const char *const explained[] = {"cols % 64 != 0", "rows == 0", "rows*cols > 100000", "cols == 0"};

START_TEST(explaining_finds_rules_beside_empty_extents)
{
    struct space space = scaled_space();
    struct config_list seen = one_seen(&space);
    struct condition *condition = condition_of(explained[_i]);
    struct explain_trial known[COUNT];
    struct drawn_list out;
    struct space_error error = {""};
    struct rule rule;
    ck_assert_int_eq(draw_unseen(&out, &space, &seen, NULL, COUNT, 11, NULL, NULL, &error), 0);
    for (int i = 0; i < COUNT; i++)
        known[i] =
            (struct explain_trial){out.item[i].config, condition_holds(condition, &out.item[i].config)};
    ck_assert_int_eq(explain(&space, NULL, &seen, NULL, known, COUNT, 200, 3, fails, condition, &rule), 0);
    ck_assert_msg(rule.present, "%s: %s", explained[_i], rule.reason);
    ck_assert_str_eq(rule.text, explained[_i]);
    condition_free(condition);
    drawn_list_clear(&out);
    config_list_clear(&seen);
    space_clear(&space);
}
END_TEST

/* --- a problem at every limit of the format --- */

enum { AXES = PROBLEM_MAX_AXES - 1 };

static char names[AXES + PROBLEM_MAX_TENSORS][8];
static struct axis axes[PROBLEM_MAX_AXES + 1];
static struct tensor tensors[PROBLEM_MAX_TENSORS + 1];
static struct argument arguments[PROBLEM_MAX_ARGUMENTS + 1];
static struct problem most;

/* Tensor t holds axes t, t + 1, .. as its dimensions, as many as a tensor may have. */
static int instantiate_most(const struct config *config, struct random *shape_random,
                            struct random *content_random, struct instance *out)
{
    (void)shape_random, (void)content_random;
    *out = (struct instance){.flops = 1, .bytes = 1};
    for (int i = 0; i < PROBLEM_MAX_ARGUMENTS; i++)
        out->extent[i] = config->value[i];
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++) {
        out->tensor[t].rank = PROBLEM_MAX_RANK;
        for (int d = 0; d < PROBLEM_MAX_RANK; d++)
            out->tensor[t].dim[d] = config->value[(t + d) % AXES];
    }
    return 0;
}

static void make_most(void)
{
    static const struct input_class classes[] = {
        {"normal", DATA_ANY, "", .fill = {{.kind = FILL_CONSTANT}}}, {"other", DATA_ANY, ""}, {0}};
    for (int i = 0; i < AXES + PROBLEM_MAX_TENSORS; i++)
        snprintf(names[i], sizeof names[i], i < AXES ? "axis%d" : "t%d", i);
    for (int i = 0; i < AXES; i++)
        axes[i] = (struct axis){names[i], AXIS_NUMBER, NULL, "an extent"};
    axes[AXES] = (struct axis){"input", AXIS_CHOICE, NULL, "how values are drawn"};
    for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
        tensors[t] = (struct tensor){names[AXES + t], DTYPE_F32, t ? TENSOR_OUTPUT : TENSOR_INPUT, "[..]"};
    for (int i = 0; i < PROBLEM_MAX_ARGUMENTS; i++)
        arguments[i] = (struct argument){names[i], ARGUMENT_I64};
    most = (struct problem){.name = "most",
                            .axes = axes,
                            .tensors = tensors,
                            .arguments = arguments,
                            .classes = classes,
                            .instantiate = instantiate_most};
}

static struct space most_space(void)
{
    struct space space;
    struct space_error error = {""};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    for (int i = 0; i < AXES; i++)
        fprintf(file, "%s 1..%d tile 8 32\n", names[i], 100 + i);
    fputs("input normal other\n", file);
    for (int i = 0; i < SPACE_MAX_CONSTRAINTS; i++)
        fprintf(file, "limit %s*%s <= %d\n", names[i % AXES], names[(i + 1 + i / AXES) % AXES], 5000 + i);
    fclose(file);
    ck_assert_msg(read_text(&space, &most, text, &error) == 0, "%s", error.text);
    free(text);
    return space;
}

START_TEST(a_problem_with_as_much_of_everything_as_it_may_have_is_drawn)
{
    make_most();
    struct space space = most_space();
    struct drawn_list out;
    struct space_error error = {""};
    struct instance instance;
    const struct config_list seen = {0};
    char line[1024];
    ck_assert_msg(draw_unseen(&out, &space, &seen, NULL, 60, 7, NULL, NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(out.count, 60);
    for (int i = 0; i < out.count; i++) {
        struct config again;
        ck_assert_msg(space_contains(&space, &out.item[i].config, &error), "%s", error.text);
        ck_assert_int_lt(config_format(&out.item[i].config, line, sizeof line), (int)sizeof line);
        ck_assert_int_eq(config_parse(&again, &most, line, "test", &error), 0);
        ck_assert(config_equal(&again, &out.item[i].config));
        ck_assert_int_eq(config_measure(&again, &instance), 0);
        ck_assert_int_eq(instance.extent[PROBLEM_MAX_ARGUMENTS - 1], again.value[PROBLEM_MAX_ARGUMENTS - 1]);
        ck_assert(instance_tensor_count(&instance.tensor[PROBLEM_MAX_TENSORS - 1]) > 0);
    }
    drawn_list_clear(&out);
    space_clear(&space);
}
END_TEST

static int fails_last(void *data, const struct config *config)
{
    (void)data;
    return config->value[AXES - 1] % 32 != 0;
}

START_TEST(the_last_of_many_axes_is_found_by_shrinking_and_in_a_rule)
{
    make_most();
    struct space space = most_space();
    struct drawn_list out;
    struct space_error error = {""};
    struct explain_trial known[60];
    const struct config_list seen = {0};
    struct shrunk shrunk;
    struct rule rule;
    int failing = 0;
    ck_assert_int_eq(draw_unseen(&out, &space, &seen, NULL, 60, 7, NULL, NULL, &error), 0);
    for (int i = 0; i < 60; i++) {
        known[i] = (struct explain_trial){out.item[i].config, fails_last(NULL, &out.item[i].config)};
        failing = known[i].fails ? i : failing;
    }
    ck_assert_int_eq(explain(&space, NULL, &seen, NULL, known, 60, 100, 3, fails_last, NULL, &rule), 0);
    ck_assert_msg(rule.present, "%s", rule.reason);
    ck_assert_str_eq(rule.text, "axis22 % 32 != 0");
    ck_assert_int_eq(shrink(&space, &known[failing].config, 200, fails_last, NULL, &shrunk), 0);
    for (int i = 0; i < AXES; i++)
        ck_assert_int_eq(shrunk.config.value[i], 1);
    drawn_list_clear(&out);
    space_clear(&space);
}
END_TEST

TCase *contract_draw_case(void)
{
    TCase *tests = tcase_create("drawing");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, empty_extents_are_drawn_for_themselves_and_seldom);
    tcase_add_test(tests, only_an_axis_that_says_so_may_be_empty);
    tcase_add_test(tests, a_small_space_with_empty_points_is_drawn_whole);
    tcase_add_loop_test(tests, shrinking_comes_down_to_empty_extents_where_these_fail, 0, 4);
    tcase_add_loop_test(tests, explaining_finds_rules_beside_empty_extents, 0, 4);
    tcase_add_test(tests, a_problem_with_as_much_of_everything_as_it_may_have_is_drawn);
    tcase_add_test(tests, the_last_of_many_axes_is_found_by_shrinking_and_in_a_rule);
    return tests;
}
