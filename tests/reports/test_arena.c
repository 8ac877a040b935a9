/* The line of AgentKernelArena's runner protocol: what its parser demands of each action. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/arena.h"
#include "report_sample.h"

static const char prefix[] = "ARENA_EVAL_RESULT=";

static json_t *line;
static bool passed;

static void print(const char *action, bool device_times, const struct result *of, const char *failure)
{
    struct arena_request request;
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    ck_assert(arena_read(action, &request));
    request.device_times = device_times;
    passed = arena_print(out, &request, of, failure);
    fclose(out);
    ck_assert_int_eq(strncmp(text, prefix, strlen(prefix)), 0);
    ck_assert_ptr_eq(strchr(text, '\n'), text + size - 1);
    json_decref(line);
    line = json_loads(text + strlen(prefix), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(line != NULL, "%s", text);
    free(text);
}

static void teardown(void)
{
    json_decref(line);
    line = NULL;
}

static void setup(void)
{
    fill_full_result();
    result.published_tolerance = false;
    result.verdict = VERDICT_SPECIALIZED;
}

static const char *text_of(const char *key)
{
    return json_string_value(json_object_get(line, key));
}

static json_t *case_at(size_t i)
{
    return json_array_get(json_object_get(line, "cases"), i);
}

static const char *of_case(size_t i, const char *key)
{
    return json_string_value(json_object_get(case_at(i), key));
}

/* Rules of the protocol for every line: the status, the reason, and unique cases. */
static void expect_protocol(void)
{
    size_t i, k;
    json_t *one;
    const bool passes = strcmp(text_of("status"), "PASS") == 0;
    ck_assert_str_eq(text_of("protocol"), "arena-eval-v1");
    ck_assert(passes == passed);
    ck_assert((json_object_get(line, "reason") == NULL) == passes);
    ck_assert((json_object_get(line, "failure_kind") == NULL) == passes);
    ck_assert(json_is_object(json_object_get(line, "metadata")));
    json_array_foreach(json_object_get(line, "cases"), i, one)
    {
        ck_assert(json_is_object(json_object_get(one, "params")));
        ck_assert(!passes || strcmp(of_case(i, "status"), "PASS") == 0);
        for (k = 0; k < i; k++)
            ck_assert_str_ne(of_case(i, "test_case_id"), of_case(k, "test_case_id"));
    }
}

static int scouts(void)
{
    int count = 0;
    for (int i = 0; i < result.result_count; i++)
        count += result.results[i].scout || result.results[i].directed;
    return count;
}

START_TEST(every_action_of_the_protocol_is_read_and_no_other)
{
    static const char *const words[] = {"validate-task",        "baseline.compile",  "baseline.correctness",
                                        "baseline.performance", "candidate.compile", "candidate.correctness",
                                        "candidate.performance"};
    static const char *const others[] = {
        "",           "task.validate-task", "candidate", "compile",
        "candidate.", "candidate.compiles", "candidate", "candidate.validate-task"};
    struct arena_request request;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        print(words[i], true, NULL, "why");
        ck_assert(i == 0 ? strcmp(text_of("role"), "task") == 0
                         : strncmp(words[i], text_of("role"), strlen(text_of("role"))) == 0);
        ck_assert_ptr_nonnull(strstr(words[i], text_of("action")));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!arena_read(others[i], &request), "'%s'", others[i]);
}
END_TEST

START_TEST(a_manifest_says_what_each_case_is_checked_for)
{
    results[6].scout = results[7].directed = true;
    print("validate-task", false, &result, NULL);
    expect_protocol();
    ck_assert(passed);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "cases")), (size_t)result.result_count);
    for (size_t i = 0; i < (size_t)result.result_count; i++)
        ck_assert_uint_eq(json_array_size(json_object_get(case_at(i), "checks")),
                          results[i].scout || results[i].directed ? 1 : 2);
    ck_assert_int_ge(scouts(), 2);
}
END_TEST

START_TEST(correctness_fails_with_the_kinds_of_its_failures)
{
    for (int i = 0; i < result.result_count; i++)
        results[i].outcome = i == 3 ? OUTCOME_WRONG : OUTCOME_PASS;
    print("candidate.correctness", false, &result, NULL);
    expect_protocol();
    ck_assert_str_eq(text_of("failure_kind"), "numerical_mismatch");
    ck_assert_str_eq(of_case(3, "status"), "FAIL");
    ck_assert_str_eq(of_case(3, "failure_kind"), "numerical_mismatch");
    ck_assert_str_eq(of_case(2, "status"), "PASS");
    results[4].outcome = OUTCOME_SKIPPED;
    print("candidate.correctness", false, &result, NULL);
    expect_protocol();
    ck_assert_str_eq(text_of("failure_kind"), "execution_failure");
    ck_assert_str_eq(of_case(4, "failure_kind"), "execution_failure");
    results[3].outcome = results[4].outcome = OUTCOME_PASS;
    print("candidate.correctness", false, &result, NULL);
    expect_protocol();
    ck_assert(passed);
    print("candidate.correctness", false, &result, "the run was interrupted");
    expect_protocol();
    ck_assert_str_eq(text_of("reason"), "the run was interrupted");
}
END_TEST

START_TEST(performance_wants_a_time_of_the_device_in_every_case)
{
    for (int i = 0; i < result.result_count; i++) {
        results[i].outcome = OUTCOME_PASS;
        results[i].timing.present = !results[i].scout && !results[i].directed;
        results[i].timing.disturbed = false;
    }
    print("baseline.performance", true, &result, NULL);
    expect_protocol();
    ck_assert(passed);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "cases")),
                      (size_t)(result.result_count - scouts()));
    ck_assert(json_real_value(json_object_get(case_at(0), "execution_time_ms")) > 0);
    ck_assert_str_eq(of_case(0, "benchmark_method"), "cuda_event_fallback");
    print("baseline.performance", false, &result, NULL);
    expect_protocol();
    ck_assert(!passed && json_object_get(case_at(0), "execution_time_ms") == NULL);
    results[0].timing.disturbed = true;
    print("baseline.performance", true, &result, NULL);
    expect_protocol();
    ck_assert(!passed);
    ck_assert_str_eq(of_case(0, "status"), "FAIL");
    ck_assert_str_eq(of_case(1, "status"), "PASS");
}
END_TEST

START_TEST(cases_are_the_same_input_in_every_action)
{
    static const char *const actions[] = {"candidate.correctness", "candidate.performance",
                                          "baseline.correctness"};
    print("validate-task", true, &result, NULL);
    json_t *const first = json_incref(case_at(0));
    for (size_t i = 0; i < 3; i++) {
        print(actions[i], true, &result, NULL);
        ck_assert_str_eq(of_case(0, "test_case_id"),
                         json_string_value(json_object_get(first, "test_case_id")));
        ck_assert(json_equal(json_object_get(case_at(0), "params"), json_object_get(first, "params")));
    }
    json_decref(first);
}
END_TEST

START_TEST(an_action_without_cases_passes_only_if_it_compiles)
{
    memcpy(results[1].line, results[0].line, sizeof results[0].line);
    print("candidate.compile", true, &result, NULL);
    expect_protocol();
    ck_assert(passed && json_array_size(json_object_get(line, "cases")) == 0);
    print("candidate.correctness", true, &result, NULL);
    expect_protocol();
    result.result_count = 0;
    print("candidate.correctness", true, &result, NULL);
    expect_protocol();
    ck_assert(!passed);
}
END_TEST

TCase *documents_arena_case(void)
{
    TCase *tests = tcase_create("arena");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_action_of_the_protocol_is_read_and_no_other);
    tcase_add_test(tests, a_manifest_says_what_each_case_is_checked_for);
    tcase_add_test(tests, correctness_fails_with_the_kinds_of_its_failures);
    tcase_add_test(tests, performance_wants_a_time_of_the_device_in_every_case);
    tcase_add_test(tests, cases_are_the_same_input_in_every_action);
    tcase_add_test(tests, an_action_without_cases_passes_only_if_it_compiles);
    return tests;
}
