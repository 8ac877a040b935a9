/* Blends of two draws, and the search for the elements that are enough. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "problems/format.h"
#include "suites.h"
#include "verify/diagnose/diagnose.h"
#include "verify/diagnose/input_ddmin_boxes.h"

static struct config config_of(const char *problem, const char *line)
{
    struct config config;
    struct space_error error;
    ck_assert_msg(config_parse(&config, problem_find(problem), line, "test", &error) == 0, "%s", error.text);
    return config;
}

static void open_mixture(struct mixture *mixture, const char *problem, const char *own, const char *other)
{
    const struct config one = config_of(problem, own), two = config_of(problem, other);
    ck_assert_int_eq(mixture_open(mixture, &one, 0, &two, 0), 0);
}

/* A tensor's memory in a blend. */
static void *made(const struct mix *mix, int t)
{
    const struct instance_tensor *tensor = &mix->of->own.tensor[t];
    const size_t bytes =
        (size_t)dtype_bytes(mix->of->own_config.problem->tensors[t].dtype, instance_tensor_span(tensor));
    void *memory = malloc(bytes);
    ck_assert_ptr_nonnull(memory);
    memcpy(memory, mix->of->own_values[t], bytes);
    mix_make(mix, t, memory);
    return memory;
}

/* --- mixtures --- */

START_TEST(what_is_kept_is_of_the_first_content_and_all_else_of_the_other)
{
    struct mixture m;
    open_mixture(&m, "softmax", "rows=3 cols=5 seed=1", "rows=3 cols=5 seed=2");
    const struct box keep = {.tensor = 0, .low = {1, 2}, .high = {2, 4}};
    const struct set_element set = {0, 14, 7.5};
    const struct mix mix = {.of = &m, .keep = &keep, .keeps = 1, .set = &set, .sets = 1};
    float *x = made(&mix, 0);
    for (int64_t i = 0; i < 14; i++)
        ck_assert_double_eq(x[i], mixture_value(&m, i == 7 || i == 8, 0, i));
    ck_assert_double_eq(x[14], 7.5);
    ck_assert(mixture_differs(&m, 0, 7));
    free(x);
    mixture_close(&m);
}
END_TEST

/* Tables, lengths and gathered data stay. So does storage that a sequence does not use, which is NaN in one
 * or both. */
START_TEST(what_couples_tensors_is_never_mixed)
{
    const struct config config = config_of(
        "paged_attention", "batch=3 heads=2 kv_heads=1 head_dim=64 page_size=8 max_len=40 lengths=ragged "
                           "table=shuffled past=nan input=normal seed=1");
    struct mixture m;
    ck_assert_int_eq(mixture_open(&m, &config, 0, &config, 1), 0);
    const struct problem *problem = m.own_config.problem;
    const int cache = problem_tensor_index(problem, "kv_cache");
    int mixed = 0, unused = 0;
    for (int t = 0; problem->tensors[t].name; t++) {
        const enum dtype dtype = problem->tensors[t].dtype;
        mixed += m.own_values[t] != NULL;
        ck_assert_msg(!m.own_values[t] || (dtype != DTYPE_I32 && dtype != DTYPE_I64), "%s",
                      problem->tensors[t].name);
    }
    ck_assert_int_ge(mixed, 2);
    ck_assert_ptr_nonnull(m.own_values[cache]);
    ck_assert(mixture_is_structured(&m));
    const struct mix mix = {.of = &m};
    uint16_t *values = made(&mix, cache);
    for (int64_t i = 0; i < instance_tensor_count(&m.own.tensor[cache]); i++) {
        const bool own_nan = isnan(mixture_value(&m, true, cache, i));
        const bool now = isnan(single_from_bf16(values[i]));
        unused += own_nan;
        ck_assert_msg(now == own_nan, "element %lld", (long long)i);
    }
    ck_assert_int_gt(unused, 0);
    free(values);
    mixture_close(&m);
}
END_TEST

static bool is_mixed(const char *problem, const char *line, const char *tensor)
{
    const struct config config = config_of(problem, line);
    struct mixture m;
    ck_assert_int_eq(mixture_open(&m, &config, 0, &config, 1), 0);
    const int t = problem_tensor_index(config.problem, tensor);
    ck_assert_int_ge(t, 0);
    const bool mixed = m.own_values[t] != NULL;
    mixture_close(&m);
    return mixed;
}

/* A table of cosines and sines is an input; queries are gathered from keys. */
START_TEST(floats_are_mixed_but_for_those_that_are_given_or_gathered)
{
    static const char rope[] =
        "tokens=2 heads=1 kv_heads=1 head_dim=64 page_size=8 pages=2 max_position=9 rotated=all "
        "style=halves slots=paged positions=sequential input=normal seed=1";
    static const char attention[] =
        "batch=1 kv_heads=1 group=1 head_dim=64 max_len=8 causal=0 kv=same lengths=equal "
        "scale=root input=";
    char line[200];
    ck_assert(is_mixed("rope_cache", rope, "query"));
    ck_assert(!is_mixed("rope_cache", rope, "cos_sin"));
    snprintf(line, sizeof line, "%snormal seed=1", attention);
    ck_assert(is_mixed("attention", line, "q") && is_mixed("attention", line, "k"));
    snprintf(line, sizeof line, "%sonehot seed=1", attention);
    ck_assert(!is_mixed("attention", line, "q") && !is_mixed("attention", line, "k"));
    ck_assert(is_mixed("attention", line, "v"));
}
END_TEST

START_TEST(a_mixture_promises_no_more_than_its_elements_keep)
{
    struct mixture m;
    const struct set_element set = {0, 0, 1};
    static const char line[] = "m=4 n=4 k=64 trans_b=0 input=";
    char text[3][80];
    snprintf(text[0], sizeof text[0], "%snormal seed=1", line);
    snprintf(text[1], sizeof text[1], "%snormal seed=2", line);
    snprintf(text[2], sizeof text[2], "%sintegers seed=2", line);
    open_mixture(&m, "gemm_bf16", text[0], text[1]);
    ck_assert_int_eq(m.own.data, DATA_SIGN_RANDOM);
    ck_assert_int_eq(mix_data(&(struct mix){.of = &m}), DATA_SIGN_RANDOM);
    ck_assert_int_eq(mix_data(&(struct mix){.of = &m, .set = &set, .sets = 1}), DATA_ANY);
    mixture_close(&m);
    open_mixture(&m, "gemm_bf16", text[0], text[2]);
    ck_assert_int_eq(mix_data(&(struct mix){.of = &m}), DATA_ANY);
    mixture_close(&m);
}
END_TEST

START_TEST(a_mixture_is_read_as_it_is_written)
{
    struct mixture m;
    struct box keep[2] = {{.tensor = 0, .low = {1, 2}, .high = {2, 4}}, {.tensor = 0, .high = {1, 1}}};
    const struct clip clip = {0, -0.1f, INFINITY};
    const struct mix mix = {.of = &m, .keep = keep, .keeps = 2, .clip = &clip};
    struct mixed again;
    char text[200], why[400];
    const struct config one = config_of("softmax", "rows=3 cols=5 input=wide seed=1"),
                        two = config_of("softmax", "rows=3 cols=5 input=normal seed=7");
    ck_assert_int_eq(mixture_open(&m, &one, 1, &two, 2), 0);
    ck_assert(mix_format(&mix, text, sizeof text));
    ck_assert_str_eq(
        text, "input=normal seed=7 content=2 own=1 clip=x:-0.100000001:inf keep=x[1,2..3] keep=x[0,0]");
    ck_assert_msg(mix_parse(&m.own_config, text, &again, why, sizeof why) == 0, "%s", why);
    ck_assert(config_equal(&again.mixture.other_config, &m.other_config));
    ck_assert_int_eq(again.mixture.own_content, 1);
    ck_assert_int_eq(again.mixture.other_content, 2);
    ck_assert_int_eq(again.mix.keeps, 2);
    ck_assert(memcmp(keep, again.keep, sizeof keep) == 0);
    ck_assert(again.mix.clip && (float)again.mix.clip->low == -0.1f && isinf(again.mix.clip->high));
    mixture_close(&again.mixture);
    ck_assert(!mix_format(&mix, text, 20));
    mixture_close(&m);
}
END_TEST

START_TEST(what_is_clipped_lies_within_the_bounds_and_all_else_stays)
{
    struct mixture m;
    open_mixture(&m, "softmax", "rows=8 cols=40 seed=1", "rows=8 cols=40 seed=1");
    const struct clip clip = {0, -0.25, 0.5};
    const struct mix mix = {.of = &m, .clip = &clip};
    float *x = made(&mix, 0);
    int below = 0, above = 0;
    for (int64_t i = 0; i < 320; i++) {
        const double was = mixture_value(&m, true, 0, i);
        below += was < -0.25;
        above += was > 0.5;
        ck_assert_double_eq(x[i], fmin(fmax(was, -0.25), 0.5));
    }
    ck_assert_int_gt(below, 0);
    ck_assert_int_gt(above, 0);
    ck_assert_int_eq(mix_data(&mix), DATA_ANY);
    free(x);
    mixture_close(&m);
}
END_TEST

/* --- narrowing --- */

/* It fails when all of these values stay. */
struct needed {
    const struct mixture *of;
    int64_t element[24];
    int count, runs, most;
};

static int all_kept(void *data, const struct box *keep, int keeps)
{
    struct needed *needed = data;
    if (needed->runs == needed->most)
        return -1;
    needed->runs++;
    for (int i = 0; i < needed->count; i++) {
        bool kept = false;
        for (int b = 0; b < keeps; b++)
            kept = kept || (keep[b].tensor == 0 && box_has(&needed->of->own, &keep[b], needed->element[i]));
        if (!kept)
            return 0;
    }
    return 1;
}

static void expect_narrowed(struct needed needed, bool minimal, const char *expected, int runs)
{
    struct mixture m;
    char text[600];
    open_mixture(&m, "softmax", "rows=32 cols=1000 seed=1", "rows=32 cols=1000 seed=2");
    needed.of = &m;
    struct narrow n = {.of = &m, .fails = all_kept, .data = &needed};
    narrow(&n);
    ck_assert_int_eq(n.minimal, minimal);
    ck_assert_int_le(needed.runs, runs);
    needed.most = needed.runs + 1;
    ck_assert_int_eq(all_kept(&needed, n.box, n.boxes), 1);
    ck_assert(boxes_format(&m, n.box, n.boxes, text, sizeof text));
    if (expected)
        ck_assert_str_eq(text, expected);
    mixture_close(&m);
}

START_TEST(one_element_of_many_is_found_by_halves)
{
    expect_narrowed((struct needed){.element = {4321}, .count = 1, .most = 40}, true, "x[4,321]", 32);
    expect_narrowed((struct needed){.element = {31999}, .count = 1, .most = 40}, true, "x[31,999]", 32);
    expect_narrowed((struct needed){.element = {0}, .count = 1, .most = 40}, true, "x[0,0]", 15);
}
END_TEST

START_TEST(several_that_are_needed_together_are_all_found)
{
    expect_narrowed((struct needed){.element = {17, 16017}, .count = 2, .most = 200}, true,
                    "x[0,17], x[16,17]", 80);
    expect_narrowed((struct needed){.element = {5004, 5005, 5006}, .count = 3, .most = 200}, true,
                    "x[5,4..6]", 80);
}
END_TEST

START_TEST(where_the_runs_end_it_says_so_and_what_is_left_still_fails)
{
    expect_narrowed((struct needed){.element = {17, 16017}, .count = 2, .most = 12}, false, NULL, 12);
}
END_TEST

START_TEST(what_is_spread_ends_the_search)
{
    struct needed needed = {.count = 24, .most = 1000};
    for (int i = 0; i < 24; i++)
        needed.element[i] = 1000 * i + 41 * i;
    expect_narrowed(needed, false, NULL, 200);
}
END_TEST

/* Nothing runs: a hang in Python is waited for as long as compiling may take. */
START_TEST(a_hang_that_takes_too_long_is_shown_as_it_was)
{
    static struct task task;
    struct config_result hang = {.outcome = OUTCOME_TIMEOUT,
                                 .reason = {.cause = CAUSE_TIME, .stage = STAGE_FIRST},
                                 .config = config_of("softmax", "rows=3 cols=5 input=normal seed=1")};
    struct result result = {.results = &hang, .result_count = 1};
    const struct run_options options = {.timeout = 20};
    const struct diagnose_limits limits = diagnose_limits(EFFORT_QUICK);
    snprintf(task.build.python.program.path, sizeof task.build.python.program.path, "python3");
    task.build.python.compile_timeout = 31;
    diagnose(&task, &options, &limits, &result);
    ck_assert(result.diagnosis.present);
    ck_assert(!result.diagnosis.rule.present);
    ck_assert_ptr_nonnull(strstr(result.diagnosis.rule.reason, "--compile-timeout"));
    ck_assert(config_equal(&result.diagnosis.minimal.config, &hang.config));
}
END_TEST

Suite *values_suite(void)
{
    Suite *suite = suite_create("values");
    TCase *tests = tcase_create("values");
    tcase_add_test(tests, what_is_kept_is_of_the_first_content_and_all_else_of_the_other);
    tcase_add_test(tests, what_couples_tensors_is_never_mixed);
    tcase_add_test(tests, floats_are_mixed_but_for_those_that_are_given_or_gathered);
    tcase_add_test(tests, a_mixture_promises_no_more_than_its_elements_keep);
    tcase_add_test(tests, a_mixture_is_read_as_it_is_written);
    tcase_add_test(tests, what_is_clipped_lies_within_the_bounds_and_all_else_stays);
    tcase_add_test(tests, one_element_of_many_is_found_by_halves);
    tcase_add_test(tests, several_that_are_needed_together_are_all_found);
    tcase_add_test(tests, where_the_runs_end_it_says_so_and_what_is_left_still_fails);
    tcase_add_test(tests, what_is_spread_ends_the_search);
    tcase_add_test(tests, a_hang_that_takes_too_long_is_shown_as_it_was);
    suite_add_tcase(suite, tests);
    return suite;
}
