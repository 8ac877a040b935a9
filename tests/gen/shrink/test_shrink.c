/* Shrinking on simulated failures, whose condition is known exactly. Runs in the repository root. */
#include "gen_fixture.h"

#include <stdio.h>
#include <string.h>

#include "gen/contract/condition.h"
#include "gen/draw/draw.h"
#include "gen/random/pcg.h"
#include "gen/shrink/shrink.h"
#include "suites.h"

enum { RUNS = 60, POINTS = 60 };

/* --- a simulated kernel: it fails where a condition holds --- */

struct kernel {
    const struct space *space;
    struct condition *condition;
    struct config_list asked;
    int stop_at; /* the call that is told to stop; 0: none */
};

static int kernel_fails(void *data, const struct config *config)
{
    struct kernel *kernel = data;
    struct space_error error = {""};
    ck_assert_msg(space_contains(kernel->space, config, &error), "outside the space: %s", error.text);
    for (int i = 0; i < kernel->asked.count; i++)
        ck_assert_msg(!config_equal(&kernel->asked.item[i], config), "asked for twice");
    ck_assert_int_eq(config_list_add(&kernel->asked, config), 0);
    if (kernel->asked.count == kernel->stop_at)
        return -1;
    return condition_holds(kernel->condition, config);
}

static struct kernel kernel_of(const struct space *space, const char *text)
{
    char why[256];
    struct kernel kernel = {.space = space,
                            .condition = condition_parse(space->problem, text, why, sizeof why)};
    ck_assert_msg(kernel.condition != NULL, "%s: %s", text, why);
    return kernel;
}

static void kernel_clear(struct kernel *kernel)
{
    condition_free(kernel->condition);
    config_list_clear(&kernel->asked);
}

/* --- an independent check of minimality --- */

static bool fails_in_space(const struct kernel *kernel, const struct config *config)
{
    return space_contains(kernel->space, config, NULL) && condition_holds(kernel->condition, config);
}

/* A step outside the space, with another numeric axis lowered to its nearest legal value. */
static bool fails_repaired(const struct kernel *kernel, const struct config *config, int kept)
{
    const struct problem *problem = kernel->space->problem;
    struct config nearest = *config;
    int64_t distance = INT64_MAX;
    for (int i = 0; problem->axes[i].name; i++) {
        struct config moved = *config;
        if (i == kept || problem->axes[i].kind != AXIS_NUMBER)
            continue;
        while (moved.value[i] > kernel->space->domain[i].low &&
               config->value[i] - moved.value[i] < distance) {
            moved.value[i]--;
            if (config->value[i] - moved.value[i] < distance && space_contains(kernel->space, &moved, NULL)) {
                distance = config->value[i] - moved.value[i];
                nearest = moved;
            }
        }
    }
    return distance < INT64_MAX && condition_holds(kernel->condition, &nearest);
}

static bool step_fails(const struct kernel *kernel, const struct config *from, int axis, int64_t value)
{
    struct config config = *from;
    config.value[axis] = value;
    if (value >= from->value[axis] || !domain_contains(&kernel->space->domain[axis], value))
        return false;
    return space_contains(kernel->space, &config, NULL) ? condition_holds(kernel->condition, &config)
                                                        : fails_repaired(kernel, &config, axis);
}

static bool number_moves(const struct kernel *kernel, const struct config *config, int axis)
{
    const struct domain *domain = &kernel->space->domain[axis];
    const int64_t value = config->value[axis];
    int64_t half = value / 2, less = value - 1;
    for (int i = 0; i < domain->value_count; i++) {
        less = domain->value[i] < value ? domain->value[i] : less;
        half = domain->value[i] <= value / 2 ? domain->value[i] : half;
    }
    for (int i = 0; i < domain->tile_count; i++) {
        const int64_t tile = domain->tile[i], rest = value % tile;
        if (step_fails(kernel, config, axis, value - (rest ? rest : tile)))
            return true;
    }
    return step_fails(kernel, config, axis, domain->low) || step_fails(kernel, config, axis, half) ||
           step_fails(kernel, config, axis, less);
}

static bool choice_moves(const struct kernel *kernel, const struct config *config, int axis)
{
    const struct domain *domain = &kernel->space->domain[axis];
    struct config other = *config;
    for (int i = 0; i < domain->value_count && domain->value[i] != config->value[axis]; i++) {
        other.value[axis] = domain->value[i];
        if (fails_in_space(kernel, &other))
            return true;
    }
    return false;
}

/* The axis that a single step can still simplify; -1: none. */
static int movable(const struct kernel *kernel, const struct config *config)
{
    const struct axis *axes = kernel->space->problem->axes;
    for (int i = 0; axes[i].name; i++)
        if (axes[i].kind == AXIS_NUMBER ? number_moves(kernel, config, i) : choice_moves(kernel, config, i))
            return i;
    return -1;
}

/* --- many simulated failures --- */

struct error_stats {
    int shrunk, minimal, runs;
};

static int random_axis(const struct problem *problem, struct pcg *stream, enum axis_kind kind)
{
    for (;;) {
        const int axis = (int)pcg_below(stream, (uint64_t)problem_axis_count(problem));
        if (problem->axes[axis].kind == kind)
            return axis;
    }
}

/* A term of a planted condition that holds at `at`. */
static void random_term(char *text, size_t size, const struct config *at, struct pcg *stream)
{
    const struct problem *problem = at->problem;
    const int axis = random_axis(problem, stream, AXIS_NUMBER);
    const int other = random_axis(problem, stream, AXIS_NUMBER);
    const int choice = random_axis(problem, stream, AXIS_CHOICE);
    const char *const name = problem->axes[axis].name;
    const long long value = at->value[axis], second = at->value[other];
    const long long modulus =
        2 + (long long)(pcg_below(stream, 3) ? (2u << pcg_below(stream, 8)) - 2 : pcg_below(stream, 255));
    const long long below = value > 0 ? (long long)pcg_below(stream, (uint64_t)value) : -1;
    switch (pcg_below(stream, 7)) {
    case 0:
    case 1:
        snprintf(text, size, value % modulus ? "%s %% %lld != 0" : "%s %% %lld == 0", name, modulus);
        return;
    case 2: snprintf(text, size, "%s %% %lld == %lld", name, modulus, value % modulus); return;
    case 3: snprintf(text, size, "%s > %lld", name, below); return;
    case 4: snprintf(text, size, "%s == %lld", name, value); return;
    case 5:
        snprintf(text, size, "%s * %s >= %lld", name, problem->axes[other].name,
                 (long long)pcg_below(stream, (uint64_t)(value * second) + 1));
        return;
    default:
        snprintf(text, size, "%s=%s", problem->axes[choice].name,
                 problem_choice(problem, choice, at->value[choice]));
    }
}

static void random_condition(char *text, size_t size, const struct config *at, struct pcg *stream)
{
    char term[2][100];
    random_term(term[0], sizeof term[0], at, stream);
    random_term(term[1], sizeof term[1], at, stream);
    const uint64_t how = pcg_below(stream, 5);
    if (how < 2)
        snprintf(text, size, "%s", term[0]);
    else
        snprintf(text, size, "%s %s %s", term[0], how < 4 ? "and" : "or", term[1]);
}

static void shrink_one(const struct space *space, const struct config *from, const char *text,
                       struct error_stats *tally)
{
    struct kernel kernel = kernel_of(space, text);
    struct shrunk shrunk;
    char line[400];
    ck_assert_int_eq(shrink(space, from, RUNS, kernel_fails, &kernel, &shrunk), 0);
    config_format(&shrunk.config, line, sizeof line);
    ck_assert_msg(fails_in_space(&kernel, &shrunk.config), "'%s': %s does not fail", text, line);
    ck_assert_int_eq(shrunk.runs, kernel.asked.count);
    ck_assert_int_le(shrunk.runs, RUNS);
    const int axis = movable(&kernel, &shrunk.config);
    ck_assert_msg(!shrunk.minimal || axis < 0, "'%s': %s is said to be minimal, but %s can move", text, line,
                  space->problem->axes[axis].name);
    tally->shrunk++;
    tally->minimal += shrunk.minimal;
    tally->runs += shrunk.runs;
    kernel_clear(&kernel);
}

static void shrink_many(const struct problem *problem, struct error_stats *tally)
{
    struct space space = published_space(problem->name);
    const struct config_list none = {0};
    struct drawn_list points;
    struct space_error error;
    struct pcg *stream = pcg_new(4, problem->name);
    char text[250];
    ck_assert_msg(draw_unseen(&points, &space, &none, NULL, POINTS, 4, NULL, NULL, &error) == 0, "%s",
                  error.text);
    for (int i = 0; i < points.count; i++) {
        random_condition(text, sizeof text, &points.item[i].config, stream);
        shrink_one(&space, &points.item[i].config, text, tally);
    }
    pcg_free(stream);
    drawn_list_clear(&points);
    space_clear(&space);
}

START_TEST(random_failures_of_every_problem_shrink_to_a_local_minimum_within_60_runs)
{
    struct error_stats tally = {0};
    for (int i = 0; problem_registry[i]; i++)
        shrink_many(problem_registry[i], &tally);
    printf("shrink: %d of %d locally minimal within %d runs, %.1f runs on average\n", tally.minimal,
           tally.shrunk, RUNS, (double)tally.runs / tally.shrunk);
    ck_assert_int_ge(tally.shrunk, 300);
    ck_assert_int_ge(tally.minimal * 100, tally.shrunk * 95);
}
END_TEST

/* --- one by one --- */

static const struct {
    const char *problem, *condition, *from, *expected;
    int runs; /* at most */
} cases[] = {
    {"gemm_f32", "any", "m=777 n=64 k=4096 trans_b=1 input=special seed=91",
     "m=1 n=1 k=1 trans_b=0 input=normal seed=1", 1},
    {"gemm_f32", "any", "m=1 n=1 k=1 trans_b=0 seed=1", "m=1 n=1 k=1 trans_b=0 input=normal seed=1", 0},
    {"gemm_f32", "k > 777", "m=777 n=64 k=4096 trans_b=1 input=special seed=91",
     "m=1 n=1 k=778 trans_b=0 input=normal seed=1", 30},
    {"gemm_f32", "k == 4096", "m=777 n=64 k=4096 trans_b=1 input=special seed=91",
     "m=1 n=1 k=4096 trans_b=0 input=normal seed=1", 30},
    {"gemm_f32", "k % 64 != 0", "m=777 n=64 k=4099 trans_b=1 input=special seed=91",
     "m=1 n=1 k=1 trans_b=0 input=normal seed=1", 1},
    {"gemm_f32", "k % 64 == 17", "m=777 n=64 k=4113 trans_b=1 input=special seed=91",
     "m=1 n=1 k=17 trans_b=0 input=normal seed=1", 35},
    {"gemm_f32", "k % 64 != 0 and k > 100", "m=777 n=64 k=4098 trans_b=1 input=special seed=91",
     "m=1 n=1 k=101 trans_b=0 input=normal seed=1", 45},
    {"gemm_f32", "k % 32 == 0 and k > 6042", "m=1 n=64 k=16384 trans_b=1 input=special seed=91",
     "m=1 n=1 k=6048 trans_b=0 input=normal seed=1", 60},
    {"gemm_f32", "m > 300 and n > 12", "m=777 n=64 k=4096 trans_b=1 input=special seed=91",
     "m=301 n=13 k=1 trans_b=0 input=normal seed=1", 50},
    {"gemm_f32", "m == n and n == k and n > 1", "m=4096 n=4096 k=4096 trans_b=1 input=wide seed=91",
     "m=2 n=2 k=2 trans_b=0 input=normal seed=1", 40},
    {"gemm_f32", "trans_b == 1 and input!=normal", "m=9 n=64 k=4096 trans_b=1 input=special seed=91",
     "m=1 n=1 k=1 trans_b=1 input=integers seed=1", 20},
    {"gemm_w4a16", "k > 777", "m=77 n=64 k=4098 group=96 zero=high input=wide seed=91",
     "m=1 n=1 k=778 group=32 zero=drawn input=normal seed=1", 35},
    {"gemm_w4a16", "group > 64", "m=77 n=64 k=4098 group=128 zero=high input=wide seed=91",
     "m=1 n=1 k=2 group=96 zero=drawn input=normal seed=1", 20},
    {"paged_attention", "any", "batch=9 heads=32 kv_heads=8 head_dim=96 page_size=17 max_len=777",
     "batch=1 heads=1 kv_heads=1 head_dim=64 page_size=1 max_len=1 lengths=equal table=shuffled "
     "past=finite input=normal seed=0",
     1},
    {"paged_attention", "max_len > 9", "batch=9 heads=32 kv_heads=8 head_dim=96 page_size=17 max_len=777",
     "batch=1 heads=1 kv_heads=1 head_dim=64 page_size=1 max_len=10 lengths=equal table=shuffled "
     "past=finite input=normal seed=0",
     30},
    {"topk", "n > 300", "rows=6 n=4099 k=4000 input=ties seed=91", "rows=1 n=301 k=1 input=normal seed=1",
     35},
    {"topk", "k > 100", "rows=6 n=4099 k=4000 input=ties seed=91", "rows=1 n=101 k=101 input=normal seed=1",
     60},
};

START_TEST(a_known_failure_ends_at_its_known_minimum)
{
    struct space space = published_space(cases[_i].problem);
    struct kernel kernel = kernel_of(&space, cases[_i].condition);
    const struct config from = parse(cases[_i].problem, cases[_i].from);
    const struct config expected = parse(cases[_i].problem, cases[_i].expected);
    struct shrunk shrunk;
    char line[400];
    ck_assert_int_eq(shrink(&space, &from, RUNS, kernel_fails, &kernel, &shrunk), 0);
    config_format(&shrunk.config, line, sizeof line);
    ck_assert_msg(config_equal(&shrunk.config, &expected), "'%s' ends at %s after %d runs",
                  cases[_i].condition, line, shrunk.runs);
    ck_assert_msg(shrunk.minimal, "'%s': not known to be minimal", cases[_i].condition);
    ck_assert_msg(shrunk.runs <= cases[_i].runs, "'%s': %d runs", cases[_i].condition, shrunk.runs);
    kernel_clear(&kernel);
    space_clear(&space);
}
END_TEST

/* With any budget the result fails, and nothing is claimed that was not run. */
START_TEST(a_search_cut_short_keeps_the_simplest_failure_so_far)
{
    struct space space = published_space("gemm_f32");
    const struct config from = parse("gemm_f32", "m=777 n=64 k=4099 trans_b=1 input=special seed=91");
    int minimal_from = -1;
    for (int runs = 0; runs <= RUNS; runs++) {
        struct kernel kernel = kernel_of(&space, "m > 300 and input=special"), stopped = kernel;
        struct shrunk shrunk, other;
        stopped.stop_at = runs + 1;
        ck_assert_int_eq(shrink(&space, &from, runs, kernel_fails, &kernel, &shrunk), 0);
        ck_assert(fails_in_space(&kernel, &shrunk.config));
        ck_assert_int_eq(shrunk.runs, kernel.asked.count);
        ck_assert_int_le(shrunk.runs, runs);
        ck_assert(!shrunk.minimal || movable(&kernel, &shrunk.config) < 0);
        ck_assert(shrunk.minimal || minimal_from < 0); /* more runs never make it less minimal */
        minimal_from = shrunk.minimal && minimal_from < 0 ? runs : minimal_from;
        ck_assert_int_eq(shrink(&space, &from, RUNS, kernel_fails, &stopped, &other), 0);
        ck_assert(config_equal(&other.config, &shrunk.config)); /* stopped there: the same */
        ck_assert_int_le(other.runs, runs + 1);
        config_list_clear(&stopped.asked);
        kernel_clear(&kernel);
    }
    ck_assert_int_gt(minimal_from, 5);
    space_clear(&space);
}
END_TEST

/* Where a limit leaves every sixth value, one less is six less. Tiles need not be powers of two. */
static const struct {
    const char *limit, *condition, *from, *expected;
} own_contracts[] = {
    {"limit cols % 6 == 0", "cols > 777", "rows=8 cols=4098", "rows=1 cols=780"},
    {"limit cols % 6 == 0", "cols > 777 and rows > 5", "rows=8 cols=1554", "rows=6 cols=780"},
    {"limit cols > 0", "cols % 48 == 0 and cols > 1040", "rows=8 cols=1104", "rows=1 cols=1056"},
};

START_TEST(limits_and_tiles_of_any_size_are_stepped_over)
{
    char text[300];
    snprintf(text, sizeof text, "rows 1..64\ncols 6..16384 tile 48\ninput normal\n%s\n",
             own_contracts[_i].limit);
    struct space space = good_space("softmax", text);
    struct kernel kernel = kernel_of(&space, own_contracts[_i].condition);
    const struct config from = parse("softmax", own_contracts[_i].from);
    const struct config expected = parse("softmax", own_contracts[_i].expected);
    struct shrunk shrunk;
    ck_assert_int_eq(shrink(&space, &from, RUNS, kernel_fails, &kernel, &shrunk), 0);
    ck_assert_int_eq(shrunk.config.value[1], expected.value[1]);
    ck_assert(config_equal(&shrunk.config, &expected) && shrunk.minimal);
    kernel_clear(&kernel);
    space_clear(&space);
}
END_TEST

/* kernel_fails checks that nothing outside the contract is asked for. */
START_TEST(a_narrow_contract_is_never_left)
{
    struct space space = good_space("gemm_f32", "m 5..64 tile 16\nn 12..64\nk 7 96 4099\ntrans_b 1\n"
                                                "input wide special\nlimit m*n >= 200\nlimit m + n > 30\n");
    static const char *const conditions[] = {"any", "m > 20", "n > 20 and m % 3 == 0",
                                             "k > 7 and input=special"};
    const struct config from = parse("gemm_f32", "m=63 n=64 k=4099 trans_b=1 input=special seed=91");
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        struct kernel kernel = kernel_of(&space, conditions[i]);
        struct shrunk shrunk;
        ck_assert_int_eq(shrink(&space, &from, RUNS, kernel_fails, &kernel, &shrunk), 0);
        ck_assert(fails_in_space(&kernel, &shrunk.config));
        ck_assert(shrunk.minimal);
        ck_assert_int_lt(movable(&kernel, &shrunk.config), 0);
        ck_assert_int_lt(shrunk.config.value[0] * shrunk.config.value[1], 63 * 64 / 2);
        kernel_clear(&kernel);
    }
    space_clear(&space);
}
END_TEST

Suite *shrink_suite(void)
{
    Suite *suite = suite_create("shrink");
    TCase *tcase = tcase_create("shrink");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, random_failures_of_every_problem_shrink_to_a_local_minimum_within_60_runs);
    tcase_add_loop_test(tcase, a_known_failure_ends_at_its_known_minimum, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tcase, a_search_cut_short_keeps_the_simplest_failure_so_far);
    tcase_add_loop_test(tcase, limits_and_tiles_of_any_size_are_stepped_over, 0,
                        sizeof own_contracts / sizeof *own_contracts);
    tcase_add_test(tcase, a_narrow_contract_is_never_left);
    suite_add_tcase(suite, tcase);
    return suite;
}
