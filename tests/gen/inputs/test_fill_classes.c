/* The tables of input classes: their texts, and their fills. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "gen/contract/instantiate.h"

TCase *fill_classes_case(void);

enum { MOST_CLASSES = 32 };

static const struct problem *problem_at(int i)
{
    return problem_registry[i];
}

static int count_problems(void)
{
    int count = 0;
    while (problem_registry[count])
        count++;
    return count;
}

START_TEST(every_class_has_a_name_of_its_own_and_says_what_it_shows)
{
    const struct input_class *classes = problem_at(_i)->classes;
    for (int i = 0; classes[i].name; i++) {
        ck_assert_msg(classes[i].shows && strlen(classes[i].shows) > 8 && strlen(classes[i].shows) < 100,
                      "%s: %s", problem_at(_i)->name, classes[i].name);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(classes[i].name, classes[k].name);
    }
    ck_assert_int_ge(problem_input_axis(problem_at(_i)), 0);
}
END_TEST

/* The published class, which is the first, does not count among them: it has its own share of the draws. */
START_TEST(discriminating_classes_are_ranked_from_1_without_a_gap)
{
    const struct input_class *classes = problem_at(_i)->classes;
    int with[MOST_CLASSES] = {0}, highest = 0;
    for (int i = 0; classes[i].name; i++) {
        ck_assert(classes[i].discriminating >= 0 && classes[i].discriminating < MOST_CLASSES);
        with[classes[i].discriminating]++;
        highest = classes[i].discriminating > highest ? classes[i].discriminating : highest;
    }
    for (int rank = 1; rank <= highest; rank++)
        ck_assert_msg(with[rank] == 1, "%s: %d classes of rank %d", problem_at(_i)->name, with[rank], rank);
    ck_assert_int_eq(classes[0].discriminating, 0);
}
END_TEST

START_TEST(a_class_fills_inputs_alone)
{
    const struct problem *problem = problem_at(_i);
    const int tensors = problem_tensor_count(problem);
    for (const struct input_class *c = problem->classes; c->name; c++)
        for (int t = 0; t < PROBLEM_MAX_TENSORS; t++)
            ck_assert_msg(c->fill[t].kind == FILL_GIVEN ||
                              (t < tensors && problem->tensors[t].role != TENSOR_OUTPUT),
                          "%s: %s fills tensor %d", problem->name, c->name, t);
}
END_TEST

/* --- a problem of our own --- */

enum { X, Y };

static const struct axis axes[] = {{"rows", AXIS_NUMBER, NULL, "rows"},
                                   {"cols", AXIS_NUMBER, NULL, "columns"},
                                   {"input", AXIS_CHOICE, NULL, "how x is drawn"},
                                   {0}};
static const struct tensor tensors[] = {
    {"x", DTYPE_F32, TENSOR_INPUT, "[rows, cols]"}, {"y", DTYPE_F32, TENSOR_OUTPUT, "[rows, cols]"}, {0}};
static const struct argument arguments[] = {{"rows", ARGUMENT_I64}, {"cols", ARGUMENT_I64}, {0}};

static int instantiate(const struct config *config, struct random *shape_random,
                       struct random *content_random, struct instance *out)
{
    const int64_t rows = config_value(config, "rows"), cols = config_value(config, "cols");
    (void)shape_random;
    (void)content_random;
    *out = (struct instance){
        .extent = {rows, cols},
        .tensor = {{.rank = 2, .dim = {rows, cols}, .fill = {.garbage_row = 2, .garbage_block = 4}},
                   {.rank = 2, .dim = {rows, cols}}}};
    return 0;
}

/* Promises more than one shape. */
static int adjust(const struct config *config, struct random *content_random, struct instance *out)
{
    ck_assert_int_lt(random_below(content_random, 5), 5);
    ck_assert(out->data == DATA_ANY && out->tensor[X].fill.kind == FILL_LEVELS);
    out->data = config_value(config, "rows") == 1 ? DATA_EXACT : DATA_ANY;
    return 0;
}

static const struct input_class classes[] = {
    {"rows", DATA_SIGN_RANDOM, "rows", .fill = {[X] = {.kind = FILL_SORTED, .a = 1, .b = 2}}},
    {"pairs", DATA_SIGN_RANDOM, "pairs", .fill = {[X] = {.kind = FILL_ROWS_EQUAL, .inner = 2}}},
    {"adjusted", DATA_ANY, "adjusted", .fill = {[X] = {.kind = FILL_LEVELS, .b = 2}}, .adjust = adjust},
    {"forgotten", DATA_ANY, "nothing", .adjust = NULL},
    {0}};

static const struct problem problem = {.name = "sample",
                                       .axes = axes,
                                       .tensors = tensors,
                                       .arguments = arguments,
                                       .classes = classes,
                                       .instantiate = instantiate};

static struct instance instance_of(int64_t rows, const char *class)
{
    const int axis = problem_input_axis(&problem);
    const struct config config = {
        .problem = &problem, .value = {rows, 7, problem_choice_index(&problem, axis, class)}, .seed = 3};
    struct instance instance;
    ck_assert_int_eq(config_instantiate(&config, 0, &instance), 0);
    return instance;
}

START_TEST(the_axis_without_choices_has_the_classes)
{
    ck_assert_int_eq(problem_input_axis(&problem), 2);
    ck_assert_str_eq(problem_choice(&problem, 2, 1), "pairs");
    ck_assert_ptr_null(problem_choice(&problem, 2, 4));
    ck_assert_int_eq(problem_choice_index(&problem, 2, "adjusted"), 2);
    ck_assert_int_eq(problem_choice_index(&problem, 2, "row"), -1);
}
END_TEST

START_TEST(rows_are_the_last_dimension_unless_the_class_says_otherwise)
{
    const struct instance rows = instance_of(3, "rows"), pairs = instance_of(3, "pairs");
    ck_assert(rows.tensor[X].fill.kind == FILL_SORTED && rows.tensor[X].fill.inner == 7);
    ck_assert(rows.tensor[X].fill.a == 1 && rows.tensor[X].fill.b == 2 && rows.data == DATA_SIGN_RANDOM);
    ck_assert(pairs.tensor[X].fill.kind == FILL_ROWS_EQUAL && pairs.tensor[X].fill.inner == 2);
}
END_TEST

START_TEST(a_class_leaves_what_is_garbage)
{
    const struct instance rows = instance_of(3, "rows");
    ck_assert(rows.tensor[X].fill.garbage_row == 2 && rows.tensor[X].fill.garbage_block == 4);
}
END_TEST

START_TEST(what_a_class_adjusts_comes_after_its_fills_and_promise)
{
    ck_assert_int_eq(instance_of(3, "adjusted").data, DATA_ANY);
    ck_assert_int_eq(instance_of(1, "adjusted").data, DATA_EXACT);
}
END_TEST

START_TEST(a_class_that_forgets_an_input_ends_the_run)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr)); /* the message */
    instance_of(3, "forgotten");
}
END_TEST

TCase *fill_classes_case(void)
{
    TCase *cases = tcase_create("classes");
    const int count = count_problems();
    tcase_add_loop_test(cases, every_class_has_a_name_of_its_own_and_says_what_it_shows, 0, count);
    tcase_add_loop_test(cases, discriminating_classes_are_ranked_from_1_without_a_gap, 0, count);
    tcase_add_loop_test(cases, a_class_fills_inputs_alone, 0, count);
    tcase_add_test(cases, the_axis_without_choices_has_the_classes);
    tcase_add_test(cases, rows_are_the_last_dimension_unless_the_class_says_otherwise);
    tcase_add_test(cases, a_class_leaves_what_is_garbage);
    tcase_add_test(cases, what_a_class_adjusts_comes_after_its_fills_and_promise);
    tcase_add_exit_test(cases, a_class_that_forgets_an_input_ends_the_run, 2);
    return cases;
}
