/* Traces of FlashInfer-Bench, read as JSON lines: what that benchmark's model of a trace demands of them. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/trace.h"
#include "report_sample.h"

static char *text;
static json_t *line[2 * 40];
static int lines;

static void print_traces(int count)
{
    const struct result *const all[] = {&result, &result};
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    trace_print(out, all, count);
    fclose(out);
    lines = 0;
    char *rest;
    for (char *one = strtok_r(text, "\n", &rest); one; one = strtok_r(NULL, "\n", &rest)) {
        json_error_t error;
        line[lines] = json_loads(one, JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(line[lines++] != NULL, "%s\n%s", error.text, one);
    }
}

static void setup(void)
{
    fill_full_result();
    result.published_tolerance = false;
}

static void teardown(void)
{
    for (int i = 0; i < lines; i++)
        json_decref(line[i]);
    free(text);
    text = NULL;
    lines = 0;
}

static json_t *at(int i, const char *a, const char *b, const char *c)
{
    json_t *value = json_object_get(json_object_get(line[i], a), b);
    return c ? json_object_get(value, c) : value;
}

static const char *status_at(int i)
{
    return json_string_value(at(i, "evaluation", "status", NULL));
}

/* Correctness and performance are there for the statuses for which the benchmark's model demands them, and
 * absent for those for which it forbids them. */
static void expect_parts(int i)
{
    const char *const status = status_at(i);
    const bool passed = strcmp(status, "PASSED") == 0, wrong = strcmp(status, "INCORRECT_NUMERICAL") == 0;
    ck_assert(json_is_object(at(i, "evaluation", "correctness", NULL)) == (passed || wrong));
    ck_assert(json_is_object(at(i, "evaluation", "performance", NULL)) == passed);
    ck_assert(json_is_string(at(i, "evaluation", "timestamp", NULL)));
    ck_assert(json_is_string(at(i, "evaluation", "log", NULL)));
    ck_assert(json_is_string(at(i, "evaluation", "environment", "hardware")));
    ck_assert(json_is_object(at(i, "evaluation", "environment", "libs")));
}

START_TEST(a_trace_has_a_line_for_each_configuration_of_each_result)
{
    print_traces(2);
    ck_assert_int_eq(lines, 2 * result.result_count);
    for (int i = 0; i < lines; i++) {
        const struct config_result *const config = &results[i % result.result_count];
        const bool skipped = config->outcome == OUTCOME_SKIPPED;
        ck_assert_str_eq(json_string_value(json_object_get(line[i], "definition")), result.problem);
        ck_assert_uint_eq(json_object_size(at(i, "workload", "axes", NULL)), 2);
        ck_assert(json_is_string(at(i, "workload", "uuid", NULL)));
        ck_assert(json_is_null(json_object_get(line[i], "solution")) == skipped);
        ck_assert(json_is_null(json_object_get(line[i], "evaluation")) == skipped);
        if (!skipped)
            expect_parts(i);
    }
}
END_TEST

static const char *const words[OUTCOME_COUNT] = {
    [OUTCOME_PASS] = "PASSED",
    [OUTCOME_WRONG] = "INCORRECT_NUMERICAL",
    [OUTCOME_UNWRITTEN] = "INCORRECT_NUMERICAL",
    [OUTCOME_UNSTABLE] = "INCORRECT_NUMERICAL",
    [OUTCOME_OVERRUN] = "RUNTIME_ERROR",
    [OUTCOME_MODIFIED] = "RUNTIME_ERROR",
    [OUTCOME_REFUSED] = "RUNTIME_ERROR",
    [OUTCOME_CRASH] = "RUNTIME_ERROR",
    [OUTCOME_EXCEEDED] = "RUNTIME_ERROR",
    [OUTCOME_TIMEOUT] = "TIMEOUT",
};

START_TEST(a_trace_says_every_outcome_in_the_benchmark_s_words)
{
    results[0].outcome = (enum outcome)_i;
    print_traces(1);
    if (words[_i]) {
        ck_assert_str_eq(status_at(0), words[_i]);
        expect_parts(0);
    } else {
        ck_assert_int_eq(_i, OUTCOME_SKIPPED);
        ck_assert(json_is_null(json_object_get(line[0], "evaluation")));
    }
}
END_TEST

START_TEST(a_trace_has_the_greatest_errors_and_the_times)
{
    results[0].outcome = results[1].outcome = results[2].outcome = OUTCOME_PASS;
    results[0].errors = (struct greatest_errors){true, .absolute = 0.25, .relative = 0.5};
    results[0].timing = (struct timing){.present = true, .median_ms = 2, .baseline_ms = 5};
    results[1].errors = (struct greatest_errors){true, .absolute = INFINITY, .relative = NAN};
    results[1].timing = (struct timing){.present = true, .median_ms = 2};
    results[2].errors = (struct greatest_errors){.present = false};
    results[2].timing = (struct timing){.present = true, .median_ms = 2, .disturbed = true};
    print_traces(1);
    ck_assert(json_real_value(at(0, "evaluation", "correctness", "max_absolute_error")) == 0.25);
    ck_assert(json_real_value(at(0, "evaluation", "correctness", "max_relative_error")) == 0.5);
    ck_assert(json_real_value(at(0, "evaluation", "performance", "latency_ms")) == 2);
    ck_assert(json_real_value(at(0, "evaluation", "performance", "reference_latency_ms")) == 5);
    ck_assert(json_real_value(at(0, "evaluation", "performance", "speedup_factor")) == 2.5);
    ck_assert_str_eq(json_string_value(at(1, "evaluation", "correctness", "max_absolute_error")), "Infinity");
    ck_assert_str_eq(json_string_value(at(1, "evaluation", "correctness", "max_relative_error")), "NaN");
    ck_assert_uint_eq(json_object_size(at(1, "evaluation", "performance", NULL)), 1);
    ck_assert_ptr_null(at(2, "evaluation", "correctness", "max_absolute_error"));
    ck_assert_uint_eq(json_object_size(at(2, "evaluation", "performance", NULL)), 0);
}
END_TEST

START_TEST(a_trace_names_a_workload_as_its_set_does_or_by_its_line)
{
    snprintf(results[0].workload, sizeof results[0].workload, "6fe24f1a");
    results[1].workload[0] = results[2].workload[0] = results[3].workload[0] = '\0';
    memcpy(results[2].line, results[1].line, sizeof results[1].line);
    snprintf(results[3].line, sizeof results[3].line, "another");
    print_traces(1);
    const char *const one = json_string_value(at(1, "workload", "uuid", NULL));
    ck_assert_str_eq(json_string_value(at(0, "workload", "uuid", NULL)), "6fe24f1a");
    ck_assert_uint_eq(strlen(one), 36);
    ck_assert(one[14] == '8' && strchr("89ab", one[19]));
    ck_assert_str_eq(json_string_value(at(2, "workload", "uuid", NULL)), one);
    ck_assert_str_ne(json_string_value(at(3, "workload", "uuid", NULL)), one);
}
END_TEST

START_TEST(a_trace_names_the_inputs_of_our_own_problems)
{
    result.problem = "gemm_f32";
    for (int i = 0; i < result.result_count; i++)
        results[i].config.problem = problem_find("gemm_f32");
    print_traces(1);
    ck_assert_str_eq(json_string_value(json_object_get(at(0, "workload", "inputs", "a"), "type")), "random");
    ck_assert_uint_eq(json_object_size(at(0, "workload", "inputs", NULL)), 2);
}
END_TEST

START_TEST(a_trace_takes_words_of_any_bytes_and_missing_ones)
{
    for (int i = 0; i < result.result_count; i++) {
        snprintf(results[i].detail, sizeof results[i].detail, "\xff\x01 \"quoted\" \xc3");
        results[i].config.problem = NULL;
    }
    result.started[0] = result.device[0] = '\0';
    result.problem = NULL;
    print_traces(1);
    expect_parts(0);
}
END_TEST

TCase *documents_trace_case(void)
{
    TCase *tests = tcase_create("trace");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_trace_has_a_line_for_each_configuration_of_each_result);
    tcase_add_loop_test(tests, a_trace_says_every_outcome_in_the_benchmark_s_words, 0, OUTCOME_COUNT);
    tcase_add_test(tests, a_trace_has_the_greatest_errors_and_the_times);
    tcase_add_test(tests, a_trace_names_a_workload_as_its_set_does_or_by_its_line);
    tcase_add_test(tests, a_trace_names_the_inputs_of_our_own_problems);
    tcase_add_test(tests, a_trace_takes_words_of_any_bytes_and_missing_ones);
    return tests;
}
